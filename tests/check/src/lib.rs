//! What the tests of the conformance checker share: the faults of the mutants, and where agents of other packages are.

pub mod faults;
pub mod peers;
