//! Numbers of things in words: "1 graph", "2 graphs".

/// The count and the thing, which takes an s for all counts but 1.
pub(crate) fn counted(count: usize, thing: &str) -> String {
    format!("{count} {thing}{}", if count == 1 { "" } else { "s" })
}

#[test]
fn only_one_is_singular() {
    assert_eq!([0, 1, 2].map(|count| counted(count, "graph")), ["0 graphs", "1 graph", "2 graphs"]);
}
