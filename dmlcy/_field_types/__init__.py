"""What each type of fields accepts and what becomes of it."""
