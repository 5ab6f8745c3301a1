"""Ask and tell: the session, the pool, one query, a simulated oracle."""
