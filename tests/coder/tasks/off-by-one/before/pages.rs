//! Cuts a list into pages.

/// Returns how many pages `items` need, with `size` on each.
pub fn pages(items: usize, size: usize) -> usize {
    items / size + 1
}

#[test]
fn a_full_page_needs_no_other() {
    assert_eq!(pages(20, 10), 2);
    assert_eq!(pages(21, 10), 3);
    assert_eq!(pages(0, 10), 0);
}
