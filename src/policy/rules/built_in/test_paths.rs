//! Which paths are tests, by the layouts and names that test runners look for by default.
//!
//! In doubt a path is no test: a test taken for code costs a warning, code taken for a test
//! lets an untested change pass. So `TestUser.java` or `JobSpec.java`, which are as often
//! product code, count only where their directory says so, and beyond the segments and
//! names that count for any file, only source code is a test.

/// Whether a path, with `/` between its segments, is a test.
pub(super) fn is_test(path: &str) -> bool {
    let segments: Vec<&str> = path.split('/').collect();
    let Some((file, directories)) = segments.split_last() else { return false };
    if segments.iter().any(|segment| TEST_SEGMENTS.contains(&&*segment.to_lowercase())) {
        return true;
    }
    let Some((stem, extension)) = file.rsplit_once('.') else { return false };
    let (lower_stem, extension) = (stem.to_lowercase(), extension.to_lowercase());
    if lower_stem.ends_with(".test") || TEST_EXTENSIONS.contains(&&*extension) {
        return true;
    }
    if !CODE.contains(&&*extension) {
        return false;
    }
    is_in_test_directory(directories)
        || has_test_name(&lower_stem)
        || has_test_class_name(stem, &extension) && !is_main_code(directories)
}

/// A segment that makes any file a test, whatever its kind.
const TEST_SEGMENTS: [&str; 3] = ["test", "tests", "__tests__"];

/// Files that are tests by their kind: Perl, Bats, Gherkin, Robot Framework.
const TEST_EXTENSIONS: [&str; 4] = ["t", "bats", "feature", "robot"];

/// Source code.
const CODE: [&str; 55] = [
    "bash", "c", "cc", "cjs", "clj", "cljc", "cljs", "cpp", "cr", "cs", "cts", "cxx", "d", "dart",
    "el", "erl", "ex", "exs", "fs", "gd", "go", "groovy", "h", "hcl", "hpp", "hs", "java", "jl",
    "js", "jsx", "kt", "kts", "lua", "m", "mjs", "ml", "mm", "mts", "nim", "php", "pl", "ps1",
    "py", "r", "rb", "rego", "rs", "scala", "sh", "sol", "swift", "ts", "tsx", "vb", "zig",
];

/// Directories of test code; also `<kind>test` and `<kind>tests` with `-`, `_` or nothing
/// between (`integration-tests`, `unit_test`, `uitests`).
const TEST_DIRECTORIES: [&str; 8] =
    ["spec", "specs", "__test__", "__specs__", "e2e", "unittest", "unittests", "testsuite"];
const TEST_KINDS: [&str; 11] = [
    "acceptance",
    "component",
    "contract",
    "e2e",
    "functional",
    "integration",
    "regression",
    "smoke",
    "system",
    "ui",
    "unit",
];

fn is_in_test_directory(directories: &[&str]) -> bool {
    directories.iter().enumerate().any(|(depth, directory)| {
        let lower = directory.to_lowercase();
        let of_a_kind = lower
            .strip_suffix("tests")
            .or_else(|| lower.strip_suffix("test"))
            .is_some_and(|kind| TEST_KINDS.contains(&kind.trim_end_matches(['-', '_'])));
        // `Shop.Tests`, `ShopUITests` (.NET, Swift), `Shop.Test` (.NET).
        let of_a_project = directory.strip_suffix("Tests").is_some_and(|name| !name.is_empty())
            || directory.ends_with(".Test");
        // `src/androidTest`, `src/commonTest`, `src/testDebug` (Gradle's source sets).
        let source_set = depth > 0
            && directories[depth - 1] == "src"
            && (directory.ends_with("Test")
                || directory.strip_prefix("test").is_some_and(|rest| {
                    rest.starts_with(|first: char| first.is_ascii_uppercase())
                }));
        TEST_DIRECTORIES.contains(&&*lower) || of_a_kind || of_a_project || source_set
    })
}

/// Names with the word set off: `user_test.go`, `user.spec.ts`, `test_user.c`, `tests.rs`.
fn has_test_name(lower_stem: &str) -> bool {
    const NAMES: [&str; 6] = ["test", "tests", "conftest", "runtests", "unittest", "unittests"];
    const PREFIXES: [&str; 2] = ["test_", "test-"];
    const SUFFIXES: [&str; 18] = [
        "_test",
        "_tests",
        "-test",
        "-tests",
        ".tests",
        "_spec",
        "_specs",
        "-spec",
        "-specs",
        ".spec",
        ".specs",
        "_unittest",
        "_unittests",
        ".cy",
        ".e2e",
        ".t",
        ".test-d",
        ".tftest",
    ];
    NAMES.contains(&lower_stem)
        || PREFIXES.iter().any(|prefix| lower_stem.starts_with(prefix))
        || SUFFIXES.iter().any(|suffix| lower_stem.ends_with(suffix))
}

/// `src/main` holds what is shipped: a class `SpeedTest` there is a feature.
fn is_main_code(directories: &[&str]) -> bool {
    directories.windows(2).any(|pair| pair == ["src", "main"])
}

/// Names of classes, which only their capital tells from `Latest` and `contest`.
fn has_test_class_name(stem: &str, extension: &str) -> bool {
    let suffixes: &[&str] = match extension {
        "java" | "kt" => &["Test", "Tests", "TestCase", "IT", "ITCase"],
        "scala" => &["Test", "Tests", "Spec", "Suite"],
        "groovy" | "hs" => &["Test", "Tests", "Spec"],
        "erl" => &["_SUITE"],
        _ => &["Test", "Tests", "TestCase"],
    };
    suffixes.iter().any(|suffix| {
        // `UserIT` is an integration test, `AUDIT` is none.
        let acronym = suffix.chars().nth(1).is_some_and(|second| second.is_ascii_uppercase());
        stem.strip_suffix(suffix)
            .is_some_and(|name| name.ends_with(|last: char| !acronym || !last.is_ascii_uppercase()))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn these_are_tests() {
        for path in [
            // any file, by segment or name
            "test/fixtures/user.json",
            "tests/test_auth.py",
            "pkg/Tests/user.txt",
            "web/__tests__/user.js",
            "test_auth.py",
            "src/TEST_Auth.PY",
            "src/user.test.ts",
            "docker-compose.test.yml",
            // Python, Go, Rust, C, Ruby, Elixir, Dart, Clojure, Zig, Lua, shell
            "src/user_test.py",
            "conftest.py",
            "shop/tests.py",
            "auth/token_test.go",
            "src/ledger/tests.rs",
            "src/ledger_test.rs",
            "src/ledger_tests.rs",
            "base/string_unittest.cc",
            "src/test_ring.c",
            "spec/models/user_spec.rb",
            "lib/user_spec.rb",
            "lib/user_test.exs",
            "lib/widget_test.dart",
            "user_test.clj",
            "scripts/deploy_test.sh",
            "t/basic.t",
            "deploy.bats",
            "features/login.feature",
            "policy_test.rego",
            "R/test-model.R",
            "src/Token.t.sol",
            "main.tftest.hcl",
            // JavaScript and TypeScript
            "src/app.spec.ts",
            "src/app.component.spec.tsx",
            "src/app-test.js",
            "cypress/login.cy.ts",
            "e2e/login.ts",
            "src/types.test-d.ts",
            // JVM, .NET, Swift, PHP, C++, Haskell, Erlang, PowerShell
            "src/test/java/shop/Helper.java",
            "src/UserTest.java",
            "src/UserServiceIT.java",
            "src/HTTPTest.kt",
            "src/UserSpec.scala",
            "src/ParserSuite.scala",
            "src/UserSpec.groovy",
            "app/src/androidTest/java/Login.kt",
            "lib/src/commonTest/kotlin/Login.kt",
            "app/src/testDebug/java/Login.java",
            "integration-tests/src/Login.java",
            "Shop.Tests/Login.cs",
            "Shop.Test/Login.cs",
            "Shop/UserTests.cs",
            "ShopUITests/Login.swift",
            "src/UserTest.php",
            "src/RingTest.cpp",
            "src/ParserSpec.hs",
            "apps/shop_SUITE.erl",
            "Deploy.Tests.ps1",
        ] {
            assert!(is_test(path), "{path} is a test");
        }
    }

    #[test]
    fn these_are_none() {
        for path in [
            "",
            "/",
            "latest.py",
            "contest/x.py",
            "contests/x.py",
            "attestation.rs",
            "attest_user.py",
            "src/testimonials/view.tsx",
            "src/testing.go",
            "src/testament.py",
            "protest.go",
            "fastest.js",
            "backtest.py",
            "manifest.py",
            "digest.rs",
            "src/Contest.java",
            "src/Latest.cs",
            "src/CONTEST.java",
            "src/AUDIT.java",
            "src/PodSpec.java",
            "src/TestUser.java",
            "src/main/java/shop/SpeedTest.java",
            "src/inspection/rule.rb",
            "specifications/user.rb",
            "spec/openapi.yaml",
            "api/openapi-spec.yaml",
            "api/openapi.spec.json",
            "nginx.spec",
            "docs/test-plan.md",
            "docs/user_test.md",
            "test.txt",
            "test-results.xml",
            "pytest.ini",
            "jest.config.js",
            ".env.test",
            ".test",
            "sites/shop.test/index.php",
            "ab-test/variant.ts",
            "src/testUtils.ts",
            "src/fittest/Model.kt",
            "src/suite.rs",
            "src/respec.js",
        ] {
            assert!(!is_test(path), "{path} is no test");
        }
    }
}
