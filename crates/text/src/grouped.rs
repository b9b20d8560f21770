//! Groups items that share a key, and drops repeated ones, in the order of their first occurrence.

/// Returns the values of each key, in the order in which the keys first occur.
pub fn grouped<K: PartialEq, V>(items: impl IntoIterator<Item = (K, V)>) -> Vec<(K, Vec<V>)> {
    let mut groups: Vec<(K, Vec<V>)> = vec![];
    for (key, value) in items {
        match groups.iter_mut().find(|(known, _)| *known == key) {
            Some((_, values)) => values.push(value),
            None => groups.push((key, vec![value])),
        }
    }
    groups
}

/// Returns the items in order, each once.
pub fn distinct<T: PartialEq>(items: impl IntoIterator<Item = T>) -> Vec<T> {
    let mut kept = vec![];
    for item in items {
        if !kept.contains(&item) {
            kept.push(item);
        }
    }
    kept
}
