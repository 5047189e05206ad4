//! `cargo xtask dist`: an archive to hand out: the command, manual pages, completions, the service unit, licences.

use anyhow::{Context, Result, bail};

use crate::Verdict;
use crate::project::{Project, succeeds};

const SHELLS: [&str; 3] = ["bash", "zsh", "fish"];
const FILES: [&str; 6] = [
    "README.md",
    "CHANGELOG.md",
    "LICENSE-APACHE",
    "LICENSE-MIT",
    "packaging/epitome.service",
    "packaging/Containerfile",
];

/// Builds in release mode and packs `target/dist/epitome-VERSION-TARGET.tar.gz`.
pub(crate) fn run(project: &Project) -> Result<Verdict> {
    let build = ["build", "--locked", "--release", "--package", "epitome-cli"];
    if !succeeds(project.cargo(&build)) {
        return Ok(Verdict::Bad);
    }
    let metadata = project.metadata()?;
    let version = metadata.pointer("/packages/0/version");
    let version = version.and_then(serde_json::Value::as_str);
    let version = version.context("cargo names no version")?;
    let target = project.target_folder()?;
    let host = String::from_utf8(project.output({
        let mut rustc = project.command("rustc");
        rustc.arg("-vV");
        rustc
    })?)?;
    let host = host.lines().find_map(|line| line.strip_prefix("host: "));
    let name = format!("epitome-{version}-{}", host.context("rustc names no host")?);
    let dist = target.join("dist");
    let folder = dist.join(&name);
    if folder.exists() {
        std::fs::remove_dir_all(&folder)?;
    }
    std::fs::create_dir_all(folder.join("completions"))?;
    let command = target.join("release/epitome");
    std::fs::copy(&command, folder.join("epitome"))?;
    for file in FILES {
        let from = project.root.join(file);
        let to = folder.join(from.file_name().unwrap_or_default());
        std::fs::copy(&from, to).with_context(|| file.to_owned())?;
    }
    let epitome = command.to_string_lossy().into_owned();
    let mut manual = project.command(&epitome);
    manual.arg("man").arg(folder.join("man"));
    if !succeeds(manual) {
        bail!("the manual pages could not be written");
    }
    for shell in SHELLS {
        let mut completions = project.command(&epitome);
        completions.args(["completions", shell]);
        let script = project.output(completions)?;
        std::fs::write(folder.join("completions").join(shell), script)?;
    }
    let archive = dist.join(format!("{name}.tar.gz"));
    let mut pack = project.command("tar");
    pack.arg("-czf")
        .arg(&archive)
        .arg("-C")
        .arg(&dist)
        .arg(&name);
    let is_packed = succeeds(pack);
    if is_packed {
        println!("{}", archive.display());
    }
    Ok(Verdict::good_if(is_packed))
}
