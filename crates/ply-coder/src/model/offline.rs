//! The model that needs no network.
