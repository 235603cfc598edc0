//! Cost matrices as text and as numpy's bytes: what is read, what is written, what is refused and why.

use crate::common;

use common::rng;
use homolog::data::cost_matrix::{problem, read_csv, read_named};
use homolog::data::npy;
use homolog::matching::{BruteForce, Linear, Matcher, Sense};
use ndarray::{Array2, array};
use proptest::prelude::*;
use rand::{Rng, RngExt};

fn random_matrix(rng: &mut impl Rng, sense: Sense) -> Array2<f64> {
    let (rows, columns) = (rng.random_range(1..7), rng.random_range(1..7));
    Array2::from_shape_simple_fn((rows, columns), || match rng.random_range(0..6) {
        0 => sense.forbidden(),
        1 => f64::from(rng.random_range(-2..3)),
        _ => rng.random_range(-1.0..1.0) * 10.0_f64.powi(rng.random_range(-300..300)),
    })
}

/// A matrix as text; forbidden pairs have empty fields.
fn written(matrix: &Array2<f64>) -> String {
    let field = |&value: &f64| if value.is_infinite() { "\"\"".to_string() } else { format!("{value:?}") };
    let row = |row: ndarray::ArrayView1<'_, f64>| row.iter().map(field).collect::<Vec<_>>().join(",") + "\n";
    matrix.rows().into_iter().map(row).collect()
}

#[test]
fn matrices_come_back_as_they_were_written() {
    let mut rng = rng(81);
    for _ in 0..300 {
        for sense in [Sense::Minimize, Sense::Maximize] {
            let matrix = random_matrix(&mut rng, sense);
            let text = written(&matrix);
            assert_eq!(read_csv(&text, sense).unwrap(), matrix, "{text}");
            assert_eq!(npy::read(&npy::write(matrix.view())).unwrap(), matrix);
            assert_eq!(npy::read(&npy::write(matrix.t())).unwrap(), matrix.t());
        }
    }
    for empty in [(0, 0), (0, 3), (3, 0)] {
        assert_eq!(npy::read(&npy::write(Array2::zeros(empty).view())).unwrap().dim(), empty);
    }
}

#[test]
fn costs_are_minimised_and_scores_maximised() {
    let mut rng = rng(82);
    for _ in 0..100 {
        let n = rng.random_range(1..6);
        let matrix = Array2::from_shape_simple_fn((n, n), || rng.random_range(-9.0..9.0_f64).round());
        let best = |sense: Sense| {
            let problem = problem(matrix.clone(), sense).unwrap();
            let solution = Linear::default().solve(&problem).unwrap();
            let checked = BruteForce::default().solve(&problem).unwrap();
            assert_eq!(solution.score, checked.score);
            let total: f64 = solution.matching.pairs().map(|(i, k)| matrix[[i, k]]).sum();
            assert_eq!(sense.turn(solution.score), total, "the value in the sense of the file");
            total
        };
        assert!(best(Sense::Minimize) <= best(Sense::Maximize));
    }
}

#[test]
fn text_of_every_separator_is_read() {
    let expected = array![[1.0, 2.5], [f64::INFINITY, -3e-7]];
    for text in [
        "1,2.5\n,-3e-7\n",
        "1;2.5\r\ninf;-3e-7",
        "1\t2.5\n\n Inf \t-3e-7\n",
        "1 2.5\n  +infinity -3e-7\n",
        "\u{feff}1,2.5\n\"\",-3e-7",
    ] {
        assert_eq!(read_csv(text, Sense::Minimize).unwrap(), expected, "{text:?}");
    }
    assert_eq!(read_csv("", Sense::Minimize).unwrap().dim(), (0, 0));
    assert_eq!(read_csv("1\n2\n", Sense::Minimize).unwrap(), array![[1.0], [2.0]]);
}

#[test]
fn matrices_that_make_no_sense_are_refused_with_their_place() {
    for (text, sense, message) in [
        ("1,b\n1,2\n", Sense::Minimize, "line 1: column 2: \"b\" is not a number"),
        ("1,2\n3,nan\n", Sense::Minimize, "line 2: column 2: \"nan\" has no meaning"),
        ("1,2\n3,-inf\n", Sense::Minimize, "line 2: column 2: \"-inf\" would be taken at any price"),
        ("1,inf\n", Sense::Maximize, "line 1: column 2: \"inf\" would be taken at any price"),
        ("1,1e999\n", Sense::Minimize, "line 1: column 2: \"1e999\" is out of range"),
        ("a,b\n1,c\n", Sense::Minimize, "line 2: column 2: \"c\" is not a number"),
        ("a,b,a\n1,2,3\n", Sense::Minimize, "line 1: duplicate name \"a\""),
        (",a,b\nx,1,nan\n", Sense::Minimize, "line 2: column 3: \"nan\" has no meaning"),
        ("1,2\n3\n", Sense::Minimize, "line 2: this row has 1 fields, the first has 2"),
        ("1 2\n3 4 5\n", Sense::Minimize, "line 2: this row has 3 fields, the first has 2"),
    ] {
        let error = read_csv(text, sense).expect_err(text).to_string();
        assert!(error.starts_with(&format!("cost matrix, {message}")), "{text:?} gave {error}");
    }
    let nan = problem(array![[0.0, f64::NAN]], Sense::Minimize).unwrap_err();
    assert_eq!(nan.to_string(), "cost matrix: NaN at row 0, column 1 has no meaning");
    let free = problem(array![[f64::NEG_INFINITY]], Sense::Minimize).unwrap_err();
    let reason = "cost matrix: -inf at row 0, column 0 would be taken at any price; are these costs or scores?";
    assert_eq!(free.to_string(), reason);
}

/// A file of version 1.0 with this header and these bytes, given in hexadecimal.
fn file(header: &str, data: &str) -> Vec<u8> {
    let mut bytes = b"\x93NUMPY\x01\x00".to_vec();
    bytes.extend(u16::try_from(header.len()).unwrap().to_le_bytes());
    bytes.extend(header.as_bytes());
    bytes.extend((0..data.len() / 2).map(|at| u8::from_str_radix(&data[2 * at..2 * at + 2], 16).unwrap()));
    bytes
}

/// The bytes are those that numpy 2 writes for these arrays (`numpy.save`).
#[test]
fn numpys_own_files_are_read() {
    let cases = [
        (
            "{'descr': '<f8', 'fortran_order': False, 'shape': (2, 3), }",
            "000000000000f83f00000000000000c0000000000000f07f9a9999999999b93f00000000000008400000000000001040",
            array![[1.5, -2.0, f64::INFINITY], [0.1, 3.0, 4.0]],
        ),
        (
            "{'descr': '<f4', 'fortran_order': True, 'shape': (3, 2), }  \n",
            "0000803f000040400000a04000000040000080400000003f",
            array![[1.0, 2.0], [3.0, 4.0], [5.0, 0.5]],
        ),
        (
            "{'descr': '>i4', 'fortran_order': False, 'shape': (2, 2), }",
            "00000001fffffffe000493e000000004",
            array![[1.0, -2.0], [300_000.0, 4.0]],
        ),
        (
            "{'descr': '<i8', 'fortran_order': True, 'shape': (2, 3), }",
            "0100000000000000fcffffffffffffff0200000000000000050000000000000003000000000000000000000000002000",
            array![[1.0, 2.0, 3.0], [-4.0, 5.0, 9_007_199_254_740_992.0]],
        ),
    ];
    for (header, data, expected) in cases {
        assert_eq!(npy::read(&file(header, data)).unwrap(), expected, "{header}");
    }
    let written = npy::write(array![[1.5, -2.0, f64::INFINITY], [0.1, 3.0, 4.0]].view());
    assert_eq!(written.len(), 128 + 48, "the numbers start at a multiple of 64, as numpy's do");
}

#[test]
fn bytes_that_are_no_matrix_are_refused() {
    let head = |shape: &str| format!("{{'descr': '<f8', 'fortran_order': False, 'shape': {shape}, }}");
    let one = "000000000000f03f";
    for (header, data, reason) in [
        (head("(2, 2)"), one, "2 by 2 numbers are 32 bytes, there are 8"),
        (head("(1, 1)"), "000000000000f03f00", "1 by 1 numbers are 8 bytes, there are 9"),
        (head("(1,)"), one, "an array of 1 dimensions is not a matrix"),
        (head("(1, 1, 1)"), one, "an array of 3 dimensions is not a matrix"),
        (head("(-1, 1)"), one, "the size \"-1\" is not a whole number"),
        (head("(9999999999, 9999999999)"), one, "nodes on one side: 9999999999 is more than the 1048576 it can take"),
        (head("(67108864, 0)"), "", "nodes on one side: 67108864 is more than the 1048576"),
        (head("(16385, 8192)"), "", "134225920 is more than the 134217728 it can take"),
        (head("1"), one, "the shape is no tuple"),
        (head("(1, 1)").replace("<f8", "|O"), one, "numbers of type '|O' are not read; save them as float64"),
        (head("(1, 1)").replace("<f8", "=f8"), one, "the byte order of '=f8' is not known"),
        (head("(1, 1)").replace("'<f8'", "[('a', '<f8')]"), one, "the numbers have no simple type"),
        (head("(1, 1)").replace("False", "0"), one, "fortran_order is neither True nor False"),
        (head("(1, 1)").replace("'descr'", "'kind'"), one, "the header has an unknown key 'kind'"),
        ("{}".into(), one, "the header lacks descr, fortran_order or shape"),
        ("[]".into(), one, "the header is not a dictionary"),
        (head("(1, 1)").replace("<f8", "<i8"), "0100000000002000", "the whole number 9007199254740993 is not exact"),
    ] {
        let error = npy::read(&file(&header, data)).expect_err(&header).to_string();
        assert!(error.starts_with(".npy: ") && error.contains(reason), "{header} gave {error}");
    }
    assert!(npy::read(b"x,y\n").unwrap_err().to_string().contains("does not begin as a file of numpy"));
    assert!(npy::read(b"\x93NUMPY\x07\x00\x00\x00").unwrap_err().to_string().contains("version 7"));
}

#[test]
fn truncated_bytes_are_refused() {
    let bytes = npy::write(array![[1.0, 2.0], [3.0, 4.0]].view());
    for end in 0..bytes.len() {
        assert!(npy::read(&bytes[..end]).is_err(), "{end} bytes");
    }
}

#[test]
fn rows_and_columns_may_have_names() {
    let values = array![[1.0, f64::INFINITY], [3.0, 4.0]];
    let names = |words: [&str; 2]| Some(words.map(String::from).to_vec());
    for (text, left, right) in [
        (",cat,dog\nanna,1,\nbert,3,4\n", names(["anna", "bert"]), names(["cat", "dog"])),
        (",cat,dog\n7,1,\n8,3,4\n", names(["7", "8"]), names(["cat", "dog"])),
        ("who;cat;dog\nanna;1;inf\nbert;3;4\n", names(["anna", "bert"]), names(["cat", "dog"])),
        ("cat,dog\n1,inf\n3,4\n", None, names(["cat", "dog"])),
        ("cat dog\nanna 1 inf\nbert 3 4\n", names(["anna", "bert"]), names(["cat", "dog"])),
        (",0,1\n0,1,\n1,3,4\n", names(["0", "1"]), names(["0", "1"])),
        ("1,\n3,4\n", None, None),
    ] {
        let named = read_named(text, Sense::Minimize).unwrap();
        assert_eq!((&named.values, &named.left, &named.right), (&values, &left, &right), "{text:?}");
    }
    // The same first row in a matrix whose first pair is forbidden: the second row is not numbered.
    let costs = array![[f64::INFINITY, 0.0, 1.0], [5.0, 1.0, 2.0], [1.0, 3.0, 4.0]];
    assert_eq!(read_csv(",0,1\n5,1,2\n1,3,4\n", Sense::Minimize).unwrap(), costs);
    assert_eq!(read_csv(",0,1\n", Sense::Minimize).unwrap(), array![[f64::INFINITY, 0.0, 1.0]]);
}

#[test]
fn numpy_numbers_of_every_width_are_read() {
    let read = |kind: &str, data: &str| {
        let header = format!("{{'descr': '{kind}', 'fortran_order': False, 'shape': (1, 4), }}");
        npy::read(&file(&header, data)).map(|matrix| matrix.row(0).to_vec())
    };
    // numpy.array([[0, 1, 200, 255]], dtype) as numpy 2 writes it, and floats of two bytes.
    assert_eq!(read("|u1", "0001c8ff").unwrap(), [0.0, 1.0, 200.0, 255.0]);
    assert_eq!(read("|i1", "00017f80").unwrap(), [0.0, 1.0, 127.0, -128.0]);
    assert_eq!(read("|b1", "00010100").unwrap(), [0.0, 1.0, 1.0, 0.0]);
    assert_eq!(read("<u2", "00000100c800ffff").unwrap(), [0.0, 1.0, 200.0, 65535.0]);
    assert_eq!(read(">i2", "00000001ffff8000").unwrap(), [0.0, 1.0, -1.0, -32768.0]);
    assert_eq!(read("<u4", "0000000001000000c8000000ffffffff").unwrap(), [0.0, 1.0, 200.0, 4_294_967_295.0]);
    // 1.0, -2.5, the largest (65504) and the smallest (2^-24) of two bytes.
    assert_eq!(read("<f2", "003c00c1ff7b0100").unwrap(), [1.0, -2.5, 65504.0, 2.0_f64.powi(-24)]);
    let special = read("<f2", "007c00fc007e0080").unwrap();
    assert_eq!(special[..2], [f64::INFINITY, f64::NEG_INFINITY]);
    assert!(special[2].is_nan() && special[3] == 0.0 && special[3].is_sign_negative());
    assert!(read("|b1", "00010200").unwrap_err().to_string().contains("the truth value 2 is neither 0 nor 1"));
    let large = format!("{}ffffffffffffffff", "00".repeat(24));
    assert!(read("<u8", &large).unwrap_err().to_string().contains("18446744073709551615 is not exact"));
}

proptest! {
    #[test]
    fn spoiled_matrices_are_refused_or_read_and_never_panic(seed in 0_u64..1000, at in 0_usize..200, byte: u8, spoiler in "[\",;\n\t 0-9einf.-]{0,6}") {
        let matrix = random_matrix(&mut rng(seed), Sense::Minimize);
        let mut bytes = npy::write(matrix.view());
        let place = at % bytes.len();
        bytes[place] = byte;
        let _ = npy::read(&bytes);
        let text = written(&matrix);
        let place = at % text.len();
        let spoiled = format!("{}{spoiler}{}", &text[..place], &text[place..]);
        if let Ok(read) = read_csv(&spoiled, Sense::Minimize) {
            prop_assert!(problem(read, Sense::Minimize).is_ok());
        }
    }
}
