//! A JSON-RPC 2.0 peer.
