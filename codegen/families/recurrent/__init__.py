"""The family recurrent: what its specs say."""
