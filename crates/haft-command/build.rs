//! Notes where the rows of the table of programs stand, so that no process has to look for them (decision 0047).
#![expect(clippy::disallowed_methods, reason = "a build script writes a file where cargo says")]

#[path = "src/programs/table/files.rs"]
mod files;
#[path = "src/programs/table/index.rs"]
mod index;

use std::fmt::Write;
use std::path::PathBuf;

use files::FILES;
use index::TableIndex;

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-changed=src/programs/table");
    let index = TableIndex::of(FILES);
    if let Some((place, name)) = index.doubled.first() {
        panic!("{}:{}: \"{name}\" has a row already", FILES[place.file].0, place.line);
    }
    let folder = PathBuf::from(std::env::var_os("OUT_DIR").expect("cargo sets it"));
    std::fs::write(folder.join("table_index.rs"), written(&index))
        .expect("the folder of a build script can be written");
}

/// Writes the index as sorted lists, which need no work when a process starts.
fn written(index: &TableIndex<'_>) -> String {
    let mut code = String::from("pub(super) const NAMES: &[(&str, usize)] = &[\n");
    let mut line = |text: String| code.write_str(&text).expect("a string takes all");
    index.names.iter().for_each(|(name, at)| line(format!("({name:?}, {at}),\n")));
    line("];\npub(super) const PARENTS: &[&str] = &[\n".to_owned());
    index.parents.iter().for_each(|name| line(format!("{name:?},\n")));
    line("];\npub(super) const PLACES: &[RowPlace] = &[\n".to_owned());
    index.places.iter().for_each(|place| line(format!("{place:?},\n")));
    line("];\n".to_owned());
    code
}
