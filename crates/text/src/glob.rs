//! Matches globs: `*` matches any run of characters, `?` any single one.

/// Returns whether `pattern` matches the whole of `text`. Takes linear time in both up to the last `*`.
pub fn glob(pattern: &str, text: &str) -> bool {
    let (pattern, text): (Vec<char>, Vec<char>) = (pattern.chars().collect(), text.chars().collect());
    let (mut p, mut t) = (0, 0);
    let mut last_star: Option<(usize, usize)> = None;
    while t < text.len() {
        match pattern.get(p) {
            Some('*') => {
                last_star = Some((p, t));
                p += 1;
            }
            Some(&c) if c == '?' || c == text[t] => {
                p += 1;
                t += 1;
            }
            _ => match last_star {
                Some((star, taken)) => {
                    last_star = Some((star, taken + 1));
                    p = star + 1;
                    t = taken + 1;
                }
                None => return false,
            },
        }
    }
    pattern[p..].iter().all(|&c| c == '*')
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn stars_and_question_marks_match_as_in_a_shell() {
        for (pattern, text, expected) in [
            ("*", "", true),
            ("*", "cublas-tf32", true),
            ("cublas*", "cublas-tf32", true),
            ("cublas", "cublas-tf32", false),
            ("cublas-f??", "cublas-f16", true),
            ("cublas-f??", "cublas-f1", false),
            ("*16", "cublas-bf16", true),
            ("*b*a*", "openblas", true),
            ("*-*-*", "one-pass", false),
            ("", "x", false),
            ("", "", true),
        ] {
            assert_eq!(glob(pattern, text), expected, "{pattern} on {text}");
        }
    }

    proptest! {
        #[test]
        fn every_word_matches_itself_and_a_star_in_place_of_its_middle(word in "[a-z0-9-]{1,12}", cut in 0usize..12) {
            let cut = cut.min(word.len());
            prop_assert!(glob(&word, &word));
            let pattern = format!("{}*", &word[..cut]);
            prop_assert!(glob(&pattern, &word));
        }
    }
}
