//! Where the bytes of a link come from and go to.
