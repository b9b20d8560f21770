//! Changes inputs at random: their bytes, their words, and the values of JSON.

use serde_json::{Value, json};

/// Text that means something to a reader, a format or a terminal.
#[rustfmt::skip]
const WORDS: [&str; 40] = [
    "0", "-1", "1", "1e400", "-1e-400", "1e300", "1e-300", "NaN", "inf", "null", "true", "18446744073709551615",
    "9223372036854775808", "1e9", "0.5", "\"\"", "\"a\"", "{}", "[]", "[[[[", "{\"a\":", "\\u001b[31m", "\\u0000", "\u{9b}",
    "\u{202e}", "\u{feff}", "\u{1f600}", "../../x", "..", "*", "1..", "..8", "1s", "f32", "f64", "cpu", "cuda", "\n", "\r\n",
    "=cmd|' /C calc'!A0",
];

/// A generator of random numbers (SplitMix64).
pub struct Random(pub u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut bits = self.0;
        bits = (bits ^ (bits >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        bits = (bits ^ (bits >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        bits ^ (bits >> 31)
    }

    /// Returns a number below `end`, which is above 0.
    fn below(&mut self, end: usize) -> usize {
        (self.next() % end as u64) as usize
    }

    fn one_of<'a, T>(&mut self, choices: &'a [T]) -> &'a T {
        &choices[self.below(choices.len())]
    }
}

/// Returns `input` with up to four changes.
pub fn mutated(input: &[u8], is_json: bool, random: &mut Random) -> Vec<u8> {
    let mut bytes = input.to_vec();
    for _ in 0..=random.below(4) {
        if !is_json || random.below(4) == 0 || !change_line(&mut bytes, random) {
            change_bytes(&mut bytes, random);
        }
    }
    bytes
}

/// Changes some bytes, whatever they are.
fn change_bytes(bytes: &mut Vec<u8>, random: &mut Random) {
    let start = random.below(bytes.len() + 1);
    let length = if random.below(8) == 0 { random.below(200) } else { random.below(4) };
    let end = (start + length).min(bytes.len());
    let new: Vec<u8> = match random.below(5) {
        0 => vec![],
        1 => vec![random.below(256) as u8],
        2 => bytes[start..end].repeat(2),
        _ => random.one_of(&WORDS).bytes().collect(),
    };
    bytes.splice(start..end, new);
}

/// Changes a value in one of the lines of JSON, or in the whole text if it is one value. Returns false if there is none.
fn change_line(bytes: &mut Vec<u8>, random: &mut Random) -> bool {
    if let Ok(mut value) = serde_json::from_slice(bytes) {
        change_value(&mut value, random);
        *bytes = value.to_string().into_bytes();
        return true;
    }
    let mut lines: Vec<Vec<u8>> = bytes.split(|byte| *byte == b'\n').map(<[u8]>::to_vec).collect();
    let at = random.below(lines.len());
    let Ok(mut value) = serde_json::from_slice(&lines[at]) else { return false };
    match random.below(8) {
        0 => drop(lines.remove(at)),
        1 => lines.insert(at, lines[at].clone()),
        _ => {
            change_value(&mut value, random);
            lines[at] = value.to_string().into_bytes();
        }
    }
    *bytes = lines.join(&b'\n');
    true
}

/// Replaces, removes, repeats or renames one value.
fn change_value(value: &mut Value, random: &mut Random) {
    let mut places = vec![];
    find(value, String::new(), &mut places);
    let place = random.one_of::<String>(&places).clone();
    let other = value.pointer(random.one_of::<String>(&places)).cloned().unwrap_or_default();
    let new = if random.below(4) == 0 { other } else { odd_value(random) };
    let action = random.below(8);
    let Some((parent, key)) = place.rsplit_once('/').filter(|_| action < 3) else {
        if let Some(old) = value.pointer_mut(&place) {
            *old = new;
        }
        return;
    };
    match (value.pointer_mut(parent), key.parse::<usize>()) {
        (Some(Value::Array(items)), Ok(at)) if at < items.len() => match action {
            0 => drop(items.remove(at)),
            1 => items.insert(at, items[at].clone()),
            _ => items.truncate(at),
        },
        (Some(Value::Object(members)), _) => {
            if let (Some(old), 1..) = (members.remove(key), action) {
                members.insert((*random.one_of(&WORDS)).to_owned(), old);
            }
        }
        _ => {}
    }
}

/// Lists the places of all values, as JSON pointers. Places under keys that a pointer must escape are left out.
fn find(value: &Value, place: String, places: &mut Vec<String>) {
    match value {
        Value::Array(items) => {
            items.iter().enumerate().for_each(|(at, item)| find(item, format!("{place}/{at}"), places));
        }
        Value::Object(members) => {
            let plain = members.iter().filter(|(key, _)| !key.contains(['~', '/']));
            plain.for_each(|(key, item)| find(item, format!("{place}/{key}"), places));
        }
        _ => {}
    }
    places.push(place);
}

fn odd_value(random: &mut Random) -> Value {
    match random.below(8) {
        0 => json!(random.next()),
        1 => json!(f64::from_bits(random.next())),
        2 => json!(*random.one_of(&[0.0, -1.0, 1e300, 1e-300, 5e-324, f64::MAX, 1e9, 1e-9])),
        3 => json!(*random.one_of(&[0, 1, 2, 1_000_000, u64::MAX])),
        4 => json!(random.one_of(&WORDS).repeat(1 + random.below(3))),
        5 => json!("a".repeat(random.below(3000))),
        6 => json!(["\u{1b}[31m\u{7}", "]]></script>"]),
        _ => random.one_of(&[Value::Null, json!([]), json!({}), json!(true), json!([[[1]]])]).clone(),
    }
}
