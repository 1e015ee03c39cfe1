//! What to do when a request fails.
