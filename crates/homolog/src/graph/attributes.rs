//! [`Attributes`]: named numbers, one row per node or per edge. Features ask for them by name, so a model finds the right
//! column in a graph it has never seen, or says which one is missing.

use super::levels::text_attribute;
use crate::geometry::check_finite;
use crate::{Error, Result};
use ndarray::{Array2, ArrayView2};

/// A table of finite numbers with a name for each column.
#[derive(Debug, Clone, PartialEq)]
pub struct Attributes {
    names: Vec<String>,
    values: Array2<f64>,
}

impl Attributes {
    /// A table with a name for each column.
    ///
    /// # Errors
    /// Too many or too few names, a name that occurs twice, a value that is not finite.
    pub fn new(names: Vec<String>, values: Array2<f64>) -> Result<Self> {
        if names.len() != values.ncols() {
            return Err(Error::Size { what: "names of attributes", expected: values.ncols(), found: names.len() });
        }
        if let Some(name) = repeated(&names) {
            return Err(Error::Repeated { what: "names of attributes", name });
        }
        check_finite("attributes", values.view())?;
        Ok(Self { names, values })
    }

    /// A table whose columns are called "0", "1", ...
    ///
    /// # Errors
    /// A value that is not finite.
    pub fn numbered(values: Array2<f64>) -> Result<Self> {
        Self::new((0..values.ncols()).map(|column| column.to_string()).collect(), values)
    }

    /// The names of the columns.
    #[must_use]
    pub fn names(&self) -> &[String] {
        &self.names
    }

    /// One row per node or edge.
    #[must_use]
    pub fn values(&self) -> ArrayView2<'_, f64> {
        self.values.view()
    }

    /// The columns with these names, in this order; otherwise the first name that is missing. A text that no row has is a column of zeros.
    pub(crate) fn select(&self, names: &[String]) -> std::result::Result<Array2<f64>, String> {
        let mut values = Array2::zeros((self.values.nrows(), names.len()));
        for (name, mut column) in names.iter().zip(values.columns_mut()) {
            let is_text = |attribute: &str| self.names.iter().any(|own| own.starts_with(attribute));
            match self.names.iter().position(|own| own == name) {
                Some(at) => column.assign(&self.values.column(at)),
                None if text_attribute(name).is_some_and(is_text) => {}
                None => return Err(name.clone()),
            }
        }
        Ok(values)
    }

    /// The same rows in another order.
    pub(crate) fn reorder(&self, rows: &[usize]) -> Self {
        Self { names: self.names.clone(), values: self.values.select(ndarray::Axis(0), rows) }
    }
}

/// The first name that occurred before.
pub(super) fn repeated<'a>(names: impl IntoIterator<Item = &'a String>) -> Option<String> {
    let mut sorted: Vec<&String> = names.into_iter().collect();
    sorted.sort_unstable();
    sorted.windows(2).find(|pair| pair[0] == pair[1]).map(|pair| pair[0].clone())
}
