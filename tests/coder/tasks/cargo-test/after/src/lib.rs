//! A stack with a limit.

mod limit;

pub use limit::Limit;

/// A stack with a limit.
#[derive(Debug)]
pub struct Stack {
    items: Vec<u32>,
    limit: Limit,
}

impl Stack {
    /// Returns an empty stack.
    pub fn new(limit: Limit) -> Self {
        Self { items: Vec::new(), limit }
    }

    /// Adds an item, unless the stack is full.
    pub fn push(&mut self, item: u32) -> bool {
        let fits = self.limit.allows(self.items.len());
        if fits {
            self.items.push(item);
        }
        fits
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_full_stack_takes_nothing() {
        let mut stack = Stack::new(Limit::new(1));
        assert!(stack.push(1));
        assert!(!stack.push(2));
    }
}
