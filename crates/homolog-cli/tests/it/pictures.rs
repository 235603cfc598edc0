//! Pictures under points: landmarks of a TPS file are where tpsDig put them, by pixels, and stay there when they are written; every
//! named specimen is drawn.

use homolog::data::{self, Format};
use image::{GrayImage, Luma};
use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

fn homolog(folder: &Path, arguments: &str) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_homolog"));
    command.current_dir(folder).args(arguments.split_whitespace()).output().unwrap()
}

fn done(folder: &Path, arguments: &str) -> String {
    let output = homolog(folder, arguments);
    assert!(output.status.success(), "{arguments}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

/// Numbers that look random, below some number.
fn below(state: &mut u64, most: usize) -> usize {
    // Knuth's linear congruence; the high bits are the good ones.
    *state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
    usize::try_from(*state >> 33).unwrap() % most
}

/// Pictures in which every landmark is where two dark lines cross, the upper half nearly empty, and their TPS file as tpsDig writes it.
fn drawn(folder: &Path) -> PathBuf {
    let (width, height) = (160_u32, 120_u32);
    let mut text = String::new();
    for number in 0..6_u32 {
        let mut picture = GrayImage::from_pixel(width, height, Luma([220]));
        let landmarks = [[20, 100], [60, 90], [100, 104], [140, 92], [80, 75]];
        let landmarks = landmarks.map(|[x, y]| [x + number * 2, y + number]);
        for [x, y] in landmarks {
            for off in 0..15 {
                picture.put_pixel(x + off - 7, y, Luma([40]));
                picture.put_pixel(x, y + off - 7, Luma([40]));
            }
        }
        picture.save(folder.join(format!("p{number}.png"))).unwrap();
        writeln!(text, "LM=5").unwrap();
        landmarks.iter().for_each(|[x, y]| writeln!(text, "{x}.00000 {}.00000", height - y).unwrap());
        writeln!(text, "IMAGE=p{number}.png\nID={number}\nSCALE=0.012500").unwrap();
    }
    let path = folder.join("made.tps");
    std::fs::write(&path, text).unwrap();
    path
}

/// The mean length of the gradient in a window of 5 x 5 pixels.
fn steepness(picture: &GrayImage, [x, y]: [f64; 2]) -> f64 {
    let [width, height] = [picture.width(), picture.height()].map(f64::from);
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "clamped to the picture")]
    let level = |x: f64, y: f64| {
        let at = |value: f64, side: f64| value.round().clamp(0.0, side - 1.0) as u32;
        f64::from(picture.get_pixel(at(x, width), at(y, height))[0])
    };
    let gradient = |x: f64, y: f64| {
        (0.5 * (level(x + 1.0, y) - level(x - 1.0, y))).hypot(0.5 * (level(x, y + 1.0) - level(x, y - 1.0)))
    };
    let window = (0..25).map(|k| gradient(x + f64::from(k % 5) - 2.0, y + f64::from(k / 5) - 2.0));
    window.sum::<f64>() / 25.0
}

/// Means over all landmarks: the gradient there, upside down, and at random places between the landmarks.
fn steepness_of(path: &Path) -> [f64; 3] {
    let folder = path.parent().unwrap();
    let beside = |name: &str, most: usize| {
        let mut bytes = std::fs::read(folder.join(name)).ok()?;
        bytes.truncate(most);
        Some(bytes)
    };
    let read = |text: &[u8]| data::read("landmarks.tps", text, &beside).unwrap();
    let loaded = read(&std::fs::read(path).unwrap());
    assert!(loaded.notes.is_empty(), "{:?}", loaded.notes);
    // Written as tpsDig counts, and read again: the same specimens on the same places of the same pictures.
    let written = data::write(Format::Tps, loaded.data.graphs()).unwrap();
    let again = read(written.as_bytes());
    assert_eq!(again.data.graphs(), loaded.data.graphs());
    assert_eq!(data::write(Format::Tps, again.data.graphs()).unwrap(), written);

    let (mut sums, mut count, mut state) = ([0.0; 3], 0.0, 1);
    for one in loaded.data.graphs() {
        let picture = image::open(folder.join(one.image.as_ref().unwrap())).unwrap().into_luma8();
        let points = one.graph.points().unwrap();
        let range = |axis: usize| {
            let (low, high) = points
                .column(axis)
                .iter()
                .fold((f64::INFINITY, 0.0_f64), |(low, high), &at| (low.min(at), high.max(at)));
            [low, high - low]
        };
        let ranges = [range(0), range(1)];
        for point in points.rows() {
            let place = [point[0], point[1]];
            let chance = ranges.map(|[low, side]| low + side * below(&mut state, 1000) as f64 / 1000.0);
            let turned = [place[0], f64::from(picture.height()) - place[1]];
            for (sum, at) in sums.iter_mut().zip([place, turned, chance]) {
                *sum += steepness(&picture, at);
            }
            count += 1.0;
        }
    }
    sums.map(|sum| sum / count)
}

#[test]
fn landmarks_of_tps_files_are_on_the_veins_of_their_pictures() {
    let folder = tempfile::tempdir().unwrap();
    let shared = || PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data");
    let wings = std::env::var_os("HOMOLOG_DATA").map_or_else(shared, PathBuf::from).join("wings/wings.tps");
    for path in [drawn(folder.path()), wings].into_iter().filter(|path| path.exists()) {
        let [here, turned, chance] = steepness_of(&path);
        let name = path.file_name().unwrap().display();
        println!("{name}: mean gradient {here:.1} at landmarks, {turned:.1} upside down, {chance:.1} at random places");
        assert!(here > 1.3 * chance && here > 1.3 * turned, "{here} {turned} {chance}");
    }
    // The program reads and writes the same.
    let whole = done(folder.path(), "convert made.tps --to tps -o -");
    let points = |text: &str| -> Vec<String> {
        text.lines().filter(|line| !line.starts_with("ID=")).map(str::to_string).collect()
    };
    std::fs::write(folder.path().join("again.tps"), &whole).unwrap();
    assert_eq!(points(&done(folder.path(), "convert again.tps --to tps -o -")), points(&whole));
    assert!(whole.contains("\n20.00000 20.00000\n") && whole.contains("SCALE=0.0125"), "{whole}");
}

#[test]
fn every_named_specimen_is_drawn() {
    let folder = tempfile::tempdir().unwrap();
    let table = |ids: &[&str], first: u32| {
        let mean = [[0.0, 0.0], [90.0, 5.0], [70.0, 50.0], [20.0, 60.0], [45.0, 25.0]];
        let mut text = "specimen,landmark,x,y\n".to_string();
        let mut state = u64::from(first);
        for id in ids {
            for (k, [x, y]) in mean.iter().enumerate() {
                let mut noise = || below(&mut state, 100) as f64 / 25.0;
                writeln!(text, "{id},p{k},{},{}", x + noise(), y + noise()).unwrap();
            }
        }
        text
    };
    let path = |name: &str| folder.path().join(name);
    std::fs::write(path("known.csv"), table(&["a", "b", "c", "d", "e", "f"], 1)).unwrap();
    std::fs::write(path("new.csv"), table(&["w1", "w/2", "W1", "w 3"], 2)).unwrap();
    done(folder.path(), "train known.csv -o model.json --features atlas -q");

    done(folder.path(), "name model.json new.csv -o named.csv --picture drawn -q");
    let mut files: Vec<String> = std::fs::read_dir(path("drawn"))
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    files.sort();
    // One for each specimen, also if two names differ by case alone or are no names of files.
    assert_eq!(files, ["W1-2.png", "w 3.png", "w1.png", "w_2.png"]);
    let pictures: Vec<GrayImage> =
        files.iter().map(|name| image::open(path("drawn").join(name)).unwrap().into_luma8()).collect();
    for (at, picture) in pictures.iter().enumerate() {
        assert!(picture.pixels().any(|pixel| pixel[0] < 100), "something is drawn");
        assert!(pictures[..at].iter().all(|other| other != picture), "each is its own");
    }
    // One file is for one specimen, and then nothing is written at all.
    let refused = homolog(folder.path(), "name model.json new.csv -o other.csv --picture one.png -q");
    let message = String::from_utf8_lossy(&refused.stderr).into_owned();
    assert!(refused.status.code() == Some(1) && message.contains("there are 4\nhint: give a folder"), "{message}");
    assert!(!path("one.png").exists() && !path("other.csv").exists());
    // By id: that one alone.
    let rows = done(folder.path(), "name model.json new.csv w1 --picture one.svg -q");
    assert!(rows.lines().skip(1).all(|row| row.starts_with("w1,")) && rows.lines().count() == 6, "{rows}");
    let svg = std::fs::read_to_string(path("one.svg")).unwrap();
    assert!((0..5).all(|k| svg.contains(&format!(">p{k}<"))), "{svg}");
}
