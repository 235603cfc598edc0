//! [`Take`]: frames of a recording in order, with their times; and which markers no one named.

use super::dataset::DataSet;

/// A data set whose graphs are frames of one recording, one after the other.
#[derive(Debug, Clone, PartialEq)]
pub struct Take {
    /// When each frame was recorded, in seconds, increasing; one per graph of the data set.
    pub times: Vec<f64>,
    /// Frames per second, on average; `None` for a single frame.
    pub rate: Option<f64>,
    /// The unit of the coordinates, if it is known and the same in all frames.
    pub unit: Option<String>,
}

impl DataSet {
    /// The times of the graphs, if they are frames of a recording: every graph has a time, later than that of the one before.
    ///
    /// ```
    /// use homolog::data::read;
    /// let text = "PathFileType\t4\t(X/Y/Z)\ta.trc\nDataRate\tNumFrames\tNumMarkers\tUnits\n100\t2\t1\tmm\n\
    ///             Frame#\tTime\thead\n\t\tX1\tY1\tZ1\n1\t0.00\t1\t2\t3\n2\t0.01\t1\t2\t4\n";
    /// let take = read("a.trc", text.as_bytes(), &|_, _| None)?.data.take().unwrap();
    /// assert_eq!((take.times, take.unit.as_deref()), (vec![0.0, 0.01], Some("mm")));
    /// # Ok::<(), homolog::Error>(())
    /// ```
    #[must_use]
    pub fn take(&self) -> Option<Take> {
        let times: Vec<f64> = self.graphs().iter().map(|named| named.graph.time()).collect::<Option<_>>()?;
        let (first, last) = (*times.first()?, *times.last()?);
        if times.windows(2).any(|two| two[0] >= two[1]) {
            return None;
        }
        let rate = (times.len() > 1).then(|| (times.len() - 1) as f64 / (last - first)).filter(|rate| rate.is_finite());
        let mut units = self.graphs().iter().map(|named| named.graph.unit());
        let unit = units.next().flatten().filter(|&unit| units.all(|other| other == Some(unit)));
        Some(Take { times, rate, unit: unit.map(str::to_string) })
    }
}

/// Whether the name of a marker only says that no one named it: nothing, `*12`, `U7`, `unlabeled3`.
pub(super) fn is_unnamed(name: &str) -> bool {
    let is_number = |rest: &str| rest.trim().bytes().all(|byte| byte.is_ascii_digit());
    let lower = name.trim().to_ascii_lowercase();
    let numbered = |prefix: &str| lower.strip_prefix(prefix).is_some_and(is_number);
    lower.is_empty()
        || numbered("*")
        || (lower != "u" && numbered("u"))
        || ["unlabeled", "unlabelled", "unnamed"].into_iter().any(numbered)
}

#[cfg(test)]
mod tests {
    use super::is_unnamed;

    #[test]
    fn numbers_are_no_names() {
        for name in ["", " ", "*", "*12", "U7", "u103", "Unlabeled 3", "unlabelled"] {
            assert!(is_unnamed(name), "{name:?}");
        }
        for name in ["U", "Ulna", "U7a", "R.Shoulder", "12", "*a"] {
            assert!(!is_unnamed(name), "{name:?}");
        }
    }
}
