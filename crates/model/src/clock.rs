//! Reads the system's clock.

use std::time::SystemTime;

use jiff::Timestamp;

/// Returns the time of the system's clock. A clock that was never set may show a year that no date in a report has: then it
/// returns the start of 1970.
pub fn now() -> Timestamp {
    of(SystemTime::now())
}

fn of(clock: SystemTime) -> Timestamp {
    let time = Timestamp::try_from(clock).unwrap_or(Timestamp::UNIX_EPOCH);
    // RFC 3339 has years from 0 to 9999, and the largest time of jiff is in 9999.
    if time < YEAR_0 { Timestamp::UNIX_EPOCH } else { time }
}

/// The start of the year 0.
const YEAR_0: Timestamp = Timestamp::constant(-62_167_219_200, 0);

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    const YEAR: Duration = Duration::from_secs(31_556_952);

    #[test]
    fn dates_of_reports_are_kept_and_others_become_1970() {
        let at = |time: Option<SystemTime>| of(time.unwrap()).to_string();
        let start = SystemTime::UNIX_EPOCH;
        assert_eq!(at(start.checked_add(Duration::from_millis(1500))), "1970-01-01T00:00:01.5Z");
        assert_eq!(at(start.checked_sub(Duration::from_secs(62_167_219_200))), "0000-01-01T00:00:00Z");
        for wrong in [
            start.checked_add(8_100 * YEAR),
            start.checked_add(200_000 * YEAR),
            start.checked_sub(1_971 * YEAR),
            start.checked_sub(20_000 * YEAR),
        ] {
            assert_eq!(at(wrong), "1970-01-01T00:00:00Z", "{wrong:?}");
        }
        assert!(now() > Timestamp::UNIX_EPOCH);
    }
}
