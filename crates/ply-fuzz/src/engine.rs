//! The session engine among clients, agent code and a store that crash.

/// Reads the bytes as the choices of a simulated world, and checks what every world must keep.
///
/// # Panics
///
/// When the world breaks a promise.
pub fn engine(data: &[u8]) {
    if let Err(failure) = ply_sim::run_bytes(ply_sim::Kind::Agent, data) {
        let lines = failure.trace.lines.join("\n");
        panic!("{lines}\n{failure}");
    }
}
