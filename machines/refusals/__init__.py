"""What a provider refuses a request for: by codes, by wordings, by statuses. Pure; live runs and recordings alike."""
