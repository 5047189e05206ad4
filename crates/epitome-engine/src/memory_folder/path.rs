//! The one form that the path of a memory file has.

use std::fmt;
use std::str::FromStr;

use jiff::civil::Date;
use jiff::tz::TimeZone;
use jiff::{Timestamp, civil};

use super::MemoryError;

/// The folder of all memory files.
pub(super) const FOLDER: &str = "memory";

/// The path of a day's file: `memory/YYYY-MM-DD.md`, in exactly this form.
///
/// ```
/// use epitome_engine::memory_folder::MemoryPath;
///
/// assert!("memory/2026-11-15.md".parse::<MemoryPath>().is_ok());
/// for path in ["memory/2026-02-30.md", "memory/../2026-11-15.md", "/memory/2026-11-15.md", "MEMORY.md"] {
///     assert!(path.parse::<MemoryPath>().is_err());
/// }
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct MemoryPath(Date);

impl MemoryPath {
    /// The file of a day.
    ///
    /// # Errors
    /// If the year does not have four digits, or is 0.
    pub fn of(day: Date) -> Result<Self, MemoryError> {
        if day.year() < 1 {
            return Err(MemoryError::Path {
                path: format!("{FOLDER}/{day}.md"),
            });
        }
        Ok(Self(day))
    }

    /// The file of the day that it is, at `now_ms` milliseconds since the epoch, where the clocks show `zone`.
    #[must_use]
    pub fn at(now_ms: i64, zone: &TimeZone) -> Self {
        // A clock that far off is wrong; any day will do.
        let now = Timestamp::from_millisecond(now_ms).unwrap_or(Timestamp::UNIX_EPOCH);
        let day = now.to_zoned(zone.clone()).date();
        Self::of(day).unwrap_or(Self(civil::date(1970, 1, 1)))
    }

    /// The day.
    #[must_use]
    pub const fn day(self) -> Date {
        self.0
    }

    /// The name of the file in its folder.
    pub(super) fn file_name(self) -> String {
        format!(
            "{:04}-{:02}-{:02}.md",
            self.0.year(),
            self.0.month(),
            self.0.day()
        )
    }
}

impl FromStr for MemoryPath {
    type Err = MemoryError;

    fn from_str(path: &str) -> Result<Self, MemoryError> {
        read(path).ok_or_else(|| MemoryError::Path {
            path: path.chars().take(200).collect(),
        })
    }
}

/// Reads the numbers and writes them again: what is not the same letter for letter is another path.
fn read(path: &str) -> Option<MemoryPath> {
    let name = path.strip_prefix(FOLDER)?.strip_prefix('/')?;
    let mut numbers = name.strip_suffix(".md")?.splitn(3, '-');
    let year = numbers.next()?.parse().ok()?;
    let month = numbers.next()?.parse().ok()?;
    let day = numbers.next()?.parse().ok()?;
    let day = Date::new(year, month, day).ok()?;
    let read = MemoryPath::of(day).ok()?;
    (read.file_name() == name).then_some(read)
}

impl fmt::Display for MemoryPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{FOLDER}/{}", self.file_name())
    }
}
