/// How many items there may be.
#[derive(Debug)]
pub struct Limit(usize);

impl Limit {
    /// Returns a limit.
    pub fn new(items: usize) -> Self {
        Self(items)
    }

    /// Says whether there may be one more.
    pub fn allows(&self, items: usize) -> bool {
        items <= self.0
    }
}
