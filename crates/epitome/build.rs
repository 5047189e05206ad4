//! Writes OpenAI's vocabularies in the form that `meter::exact` reads: every token with its length before it, in the
//! order of ranks, deflated. The tables that make counting linear are not kept: they are twenty times as large.

fn main() -> std::io::Result<()> {
    println!("cargo::rerun-if-changed=build.rs");
    #[cfg(feature = "exact-tokens")]
    vocabularies::write()?;
    Ok(())
}

#[cfg(feature = "exact-tokens")]
mod vocabularies {
    use std::io::{Error, Result, Write};
    use std::path::PathBuf;

    use bpe_openai::Tokenizer;
    use flate2::Compression;
    use flate2::write::DeflateEncoder;

    pub(super) fn write() -> Result<()> {
        let folder = std::env::var_os("OUT_DIR").map(PathBuf::from);
        let folder = folder.ok_or_else(|| Error::other("OUT_DIR is not set"))?;
        let known = [
            ("o200k", bpe_openai::o200k_base()),
            ("cl100k", bpe_openai::cl100k_base()),
        ];
        for (name, tokenizer) in known {
            let file = folder.join(format!("{name}.vocabulary"));
            std::fs::write(file, deflated(tokenizer)?)?;
        }
        Ok(())
    }

    fn deflated(tokenizer: &Tokenizer) -> Result<Vec<u8>> {
        let mut deflated = DeflateEncoder::new(Vec::new(), Compression::best());
        let tokens = u32::try_from(tokenizer.bpe.num_tokens()).map_err(Error::other)?;
        for token in 0..tokens {
            let bytes = tokenizer.bpe.token_bytes(token);
            deflated.write_all(&[u8::try_from(bytes.len()).map_err(Error::other)?])?;
            deflated.write_all(bytes)?;
        }
        deflated.finish()
    }
}
