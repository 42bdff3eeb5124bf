//! The size of the binary and the time of a clean build, of everything but the downloads.
//!
//! `cargo bench --bench build [-- PROFILE...]` builds this project for each profile (`release`
//! unless others are named) into an empty directory, and tells each as a ratio to the first.
#![allow(clippy::print_stdout, reason = "it is made to be read")]
#![allow(clippy::disallowed_methods, reason = "it starts cargo")]

use std::process::Command;
use std::time::Instant;

fn main() {
    // `cargo bench` adds a flag of its own.
    let arguments = std::env::args().skip(1).filter(|argument| argument != "--bench");
    let mut profiles: Vec<String> = arguments.collect();
    if profiles.is_empty() {
        profiles.push("release".to_owned());
    }
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    println!("a clean build on {cores} core(s), and its binary");
    let mut first = None;
    for profile in profiles {
        let target = tempfile::tempdir().unwrap();
        let begin = Instant::now();
        let built = Command::new(env!("CARGO"))
            .args(["build", "--locked", "--quiet", "--profile", &profile, "--manifest-path"])
            .arg(concat!(env!("CARGO_MANIFEST_DIR"), "/Cargo.toml"))
            .env("CARGO_TARGET_DIR", target.path())
            .status()
            .unwrap();
        assert!(built.success(), "the profile {profile} does not build");
        let seconds = begin.elapsed().as_secs_f64();
        let binary = format!("govforge{}", std::env::consts::EXE_SUFFIX);
        let directory = if profile == "dev" { "debug" } else { &profile };
        let binary = target.path().join(directory).join(binary).metadata().unwrap();
        let size = binary.len() as f64 / 1024.0 / 1024.0;
        let (first_seconds, first_size) = *first.get_or_insert((seconds, size));
        println!(
            "  {profile:8} {seconds:6.0} s ({:.2}x)   {size:5.1} MiB ({:.2}x)",
            seconds / first_seconds,
            size / first_size,
        );
    }
}
