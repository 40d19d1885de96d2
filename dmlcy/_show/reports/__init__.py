"""The forms of the report of ``dmlcy lint``: each module turns the same report into lines."""
