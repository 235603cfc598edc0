//! Specimens from any file that the library reads. Columns that a table of landmarks does not explain are numbers of its points, if they are
//! numbers that differ within a specimen and between specimens; otherwise they are left out, and that is said.

use anyhow::{Context, Result};
use homolog::data::Reader;
use homolog::data::dataset::NamedGraph;
use homolog::graph::Graph;
use homolog::{ColumnFault, Error};
use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::Read;
use std::path::Path;

/// The specimens of a file.
pub(crate) fn specimens(path: &Path) -> Result<Vec<NamedGraph>> {
    let bytes = fs::read(path).with_context(|| format!("reading {}", path.display()))?;
    let folder = path.parent().unwrap_or(Path::new(""));
    let beside = |name: &str, most: usize| {
        let mut start = Vec::new();
        File::open(folder.join(name)).ok()?.take(most as u64).read_to_end(&mut start).ok()?;
        Some(start)
    };
    let name = path.to_string_lossy();
    let read = |reader: &Reader| Ok(reader.read(&name, &bytes, &beside)?.data.graphs().to_vec());
    let (graphs, left_out) = explained(Reader::default(), &read)?;
    if !left_out.is_empty() {
        eprintln!("{name}: columns left out: {}", left_out.join(", "));
    }
    Ok(graphs)
}

type Graphs = homolog::Result<Vec<NamedGraph>>;

/// What the reader makes of a table once every column means something, and the columns that are left out.
fn explained(mut reader: Reader, read: &dyn Fn(&Reader) -> Graphs) -> homolog::Result<(Vec<NamedGraph>, Vec<String>)> {
    let mut graphs = loop {
        let error = match read(&reader) {
            Ok(graphs) => break graphs,
            Err(error) => error,
        };
        match fault(&error) {
            Some(ColumnFault::Unknown { column, .. }) if !reader.table.ignored.contains(column) => {
                reader.table.ignored.push(column.clone());
            }
            // Whichever reads without a fault: of several objects in a picture each has its landmarks once.
            Some(ColumnFault::Ambiguous { columns }) if reader.table.graph.is_none() => {
                let with = |column: &String| {
                    let mut reader = reader.clone();
                    reader.table.graph = Some(column.clone());
                    explained(reader, read).ok()
                };
                return columns.iter().find_map(with).ok_or(error);
            }
            _ => return Err(error),
        }
    };
    for column in reader.table.ignored.clone() {
        let mut with = reader.clone();
        with.table.ignored.retain(|other| *other != column);
        with.table.attributes.push(column.clone());
        if let Ok(read) = read(&with)
            && is_number_of_points(&read, &column)
        {
            (reader, graphs) = (with, read);
        }
    }
    Ok((graphs, reader.table.ignored))
}

fn fault(error: &Error) -> Option<&ColumnFault> {
    match error {
        Error::Columns { fault, .. } => Some(fault),
        Error::At { error, .. } => fault(error),
        _ => None,
    }
}

/// Whether an attribute is more than another name of the landmark or of the specimen.
fn is_number_of_points(graphs: &[NamedGraph], column: &str) -> bool {
    let values = |graph: &Graph| -> Vec<f64> {
        let attributes = graph.node_attributes();
        let at = attributes.and_then(|own| own.names().iter().position(|name| name == column));
        attributes.zip(at).map_or_else(Vec::new, |(own, at)| own.values().column(at).to_vec())
    };
    let (mut of_landmark, mut is_name, mut is_constant) = (BTreeMap::new(), true, true);
    for NamedGraph { graph, .. } in graphs {
        let own = values(graph);
        is_constant &= own.windows(2).all(|two| two[0].to_bits() == two[1].to_bits());
        for (value, name) in own.iter().zip(graph.names().unwrap_or_default()) {
            is_name &=
                of_landmark.insert(name.clone(), *value).is_none_or(|before: f64| before.to_bits() == value.to_bits());
        }
    }
    !is_name && !is_constant
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(name: &str, text: &str) -> Result<(Vec<NamedGraph>, Vec<String>)> {
        let one = |reader: &Reader| Ok(reader.read(name, text.as_bytes(), &|_, _| None)?.data.graphs().to_vec());
        Ok(explained(Reader::default(), &one)?)
    }

    #[test]
    fn columns_in_capitals_and_numbers_of_points_are_read_and_labels_left_out() -> Result<()> {
        let table = "Specimen,Landmark,X,Y,Side,Number,Size,Colour\n\
                     a,p,0,0,left,1,5,0.1\na,q,1,0,left,2,5,0.2\nb,p,0,1,left,1,6,0.3\nb,q,1,1,right,2,6,0.1\n";
        let (graphs, left_out) = read("t.csv", table)?;
        assert_eq!(graphs.iter().map(|one| one.id.as_str()).collect::<Vec<_>>(), ["a", "b"]);
        assert_eq!(left_out, ["Side", "Number", "Size"]);
        assert_eq!(graphs[1].graph.node_attributes().context("attributes")?.names(), ["Colour"]);
        Ok(())
    }

    #[test]
    fn of_several_columns_that_may_name_the_specimen_the_one_that_fits_is_taken() -> Result<()> {
        let table = "object,image,landmark,x,y\na,1,p,0,0\na,1,q,1,0\nb,1,p,0,1\nb,1,q,1,1\n";
        assert_eq!(read("t.csv", table)?.0.len(), 2);
        Ok(())
    }

    #[test]
    fn a_table_of_deeplabcut_is_one_specimen_per_frame() -> Result<()> {
        let table = "scorer,me,me,me,me,me,me\nbodyparts,nose,nose,nose,tail,tail,tail\n\
                     coords,x,y,likelihood,x,y,likelihood\n0,1,2,0.9,3,4,0.8\n1,2,3,0.9,4,5,0.8\n";
        let (graphs, left_out) = read("t.csv", table)?;
        assert_eq!((graphs.len(), left_out.len()), (2, 0));
        Ok(())
    }
}
