//! Images cost what their providers charge, and garbage never stops anything.

use epitome::{Block, MEDIA_TOKENS, ResultPart};
use epitome_wire::{Detail, ImageSize, Wire, decode, json};
use proptest::collection::vec;
use proptest::prelude::{any, prop_oneof};
use proptest::proptest;
use proptest::strategy::Just;

const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

fn base64(bytes: &[u8]) -> String {
    let mut out = String::new();
    for chunk in bytes.chunks(3) {
        let bits = (0..3).fold(0_u32, |bits, at| {
            bits << 8 | u32::from(*chunk.get(at).unwrap_or(&0))
        });
        for digit in 0..4 {
            out.push(if digit <= chunk.len() {
                char::from(ALPHABET[(bits >> (18 - 6 * digit) & 63) as usize])
            } else {
                '='
            });
        }
    }
    out
}

fn png(width: u32, height: u32) -> Vec<u8> {
    let mut out = b"\x89PNG\r\n\x1a\n\0\0\0\x0dIHDR".to_vec();
    out.extend(width.to_be_bytes());
    out.extend(height.to_be_bytes());
    out.extend(b"\x08\x06\0\0\0");
    out
}

fn gif(width: u16, height: u16) -> Vec<u8> {
    [
        &b"GIF89a"[..],
        &width.to_le_bytes(),
        &height.to_le_bytes(),
        b"\xf7\0\0",
    ]
    .concat()
}

/// With a profile of `profile` bytes before the size, as cameras write them.
fn jpeg(width: u16, height: u16, profile: u16) -> Vec<u8> {
    let mut out = b"\xff\xd8\xff\xe1".to_vec();
    out.extend((profile + 2).to_be_bytes());
    out.extend(std::iter::repeat_n(0xAB, usize::from(profile)));
    out.extend(b"\xff\xff\xdb\0\x04ab\xff\xc2\0\x11\x08");
    out.extend(height.to_be_bytes());
    out.extend(width.to_be_bytes());
    out
}

fn webp(kind: &[u8; 4], rest: &[u8]) -> Vec<u8> {
    [&b"RIFF\x10\0\0\0WEBP"[..], kind, b"\0\0\0\0", rest].concat()
}

#[test]
fn sizes_are_read_from_headers() {
    let size = |width, height| Some(ImageSize { width, height });
    for (name, bytes, expected) in [
        ("png", png(640, 480), size(640, 480)),
        ("huge png", png(u32::MAX, 1), size(u32::MAX, 1)),
        ("empty png", png(0, 480), None),
        ("gif", gif(320, 200), size(320, 200)),
        ("jpeg", jpeg(4_032, 3_024, 10), size(4_032, 3_024)),
        ("jpeg, long profile", jpeg(100, 50, 60_000), size(100, 50)),
        (
            "lossy webp",
            webp(b"VP8 ", b"\0\0\0\x9d\x01\x2a\x20\x03\x58\x02"),
            size(800, 600),
        ),
        // 14 bits each of width and height, less one: 799 and 599.
        (
            "lossless webp",
            webp(b"VP8L", b"\x2f\x1f\xc3\x95\0"),
            size(800, 600),
        ),
        (
            "extended webp",
            webp(b"VP8X", b"\0\0\0\0\x1f\x03\0\x57\x02\0"),
            size(800, 600),
        ),
        ("cut png", png(640, 480)[..20].to_vec(), None),
        ("text", b"hello, this is no image at all".to_vec(), None),
        ("nothing", Vec::new(), None),
        ("jpeg without a frame", b"\xff\xd8\xff\xd9".to_vec(), None),
    ] {
        assert_eq!(ImageSize::of(&bytes), expected, "{name}");
        let coded = base64(&bytes);
        assert_eq!(ImageSize::of_base64(&coded), expected, "{name} in base64");
        let other = coded.replace('+', "-").replace('/', "_").replace('=', "");
        assert_eq!(
            ImageSize::of_base64(&other),
            expected,
            "{name} for addresses"
        );
    }
}

#[test]
fn providers_charge_what_they_say() {
    for (width, height, anthropic, openai) in [
        (1, 1, 1, 255),
        (512, 512, 350, 255),
        (1_000, 1_000, 1_334, 765),
        (1_024, 1_024, 1_399, 765),
        (2_048, 4_096, 1_640, 1_105),
        (1_568, 1_568, 3_279, 765),
        (4_032, 3_024, 2_459, 765),
        (u32::MAX, 1, 3, 765),
        (u32::MAX, u32::MAX, 3_279, 765),
    ] {
        let size = ImageSize { width, height };
        assert_eq!(size.anthropic_tokens(), anthropic, "{size:?}");
        assert_eq!(size.openai_tokens(Detail::High), openai, "{size:?}");
        assert_eq!(size.openai_tokens(Detail::Low), 85);
    }
}

fn tokens(wire: Wire, message: &str) -> u32 {
    let value = json::read(message.as_bytes()).unwrap();
    let message = decode(wire, &value).unwrap().message;
    match &message.blocks[0] {
        Block::Media(media) => media.tokens,
        Block::Result(result) => match &result.parts[0] {
            ResultPart::Media(media) => media.tokens,
            other => panic!("{other:?}"),
        },
        other => panic!("{other:?}"),
    }
}

#[test]
fn messages_carry_the_cost_of_their_images() {
    let data = base64(&png(1_000, 1_000));
    let chat = |part: &str| {
        let message = format!(r#"{{"role":"user","content":[{part}]}}"#);
        tokens(Wire::OpenAiChat, &message)
    };
    let url = format!("data:image/png;base64,{data}");
    let escaped = url.replace('/', "\\/");
    for (part, expected) in [
        (
            format!(r#"{{"type":"image_url","image_url":{{"url":"{url}"}}}}"#),
            765,
        ),
        (
            format!(r#"{{"type":"image_url","image_url":{{"url":"{escaped}"}}}}"#),
            765,
        ),
        (
            format!(r#"{{"type":"image_url","image_url":"{url}"}}"#),
            765,
        ),
        (
            format!(r#"{{"type":"image_url","image_url":{{"url":"{url}","detail":"low"}}}}"#),
            85,
        ),
        (
            r#"{"type":"image_url","image_url":{"url":"https://x/y.png"}}"#.to_owned(),
            MEDIA_TOKENS,
        ),
        (
            r#"{"type":"image_url","image_url":{"url":"https://x/y.png","detail":"low"}}"#
                .to_owned(),
            85,
        ),
        (
            r#"{"type":"image_url","image_url":{"url":"data:image/png;base64,AAAA"}}"#.to_owned(),
            MEDIA_TOKENS,
        ),
        (
            r#"{"type":"image_url","image_url":7}"#.to_owned(),
            MEDIA_TOKENS,
        ),
        (r#"{"type":"image_url"}"#.to_owned(), MEDIA_TOKENS),
        (
            r#"{"type":"input_audio","input_audio":{"data":"AAAA"}}"#.to_owned(),
            MEDIA_TOKENS,
        ),
    ] {
        assert_eq!(chat(&part), expected, "{part}");
    }

    let image = format!(
        r#"{{"type":"image","source":{{"type":"base64","media_type":"image/png","data":"{data}"}}}}"#
    );
    let linked = r#"{"type":"image","source":{"type":"url","url":"https://x/y.png"}}"#;
    for (block, expected) in [
        (image.as_str(), 1_334),
        (linked, MEDIA_TOKENS),
        (r#"{"type":"document"}"#, MEDIA_TOKENS),
    ] {
        for block in [
            block.to_owned(),
            format!(r#"{{"type":"tool_result","tool_use_id":"x","content":[{block}]}}"#),
        ] {
            let message = format!(r#"{{"role":"user","content":[{block}]}}"#);
            assert_eq!(tokens(Wire::Anthropic, &message), expected, "{block}");
        }
    }
}

proptest! {
    #[test]
    fn garbage_is_no_image_or_one_with_a_price(
        start in prop_oneof![
            Just(Vec::new()),
            Just(b"\x89PNG".to_vec()),
            Just(b"GIF8".to_vec()),
            Just(b"\xff\xd8\xff".to_vec()),
            Just(b"RIFF0000WEBPVP8X".to_vec()),
            Just(b"RIFF0000WEBPVP8L".to_vec()),
            Just(b"RIFF0000WEBPVP8 ".to_vec()),
        ],
        rest in vec(prop_oneof![3 => any::<u8>(), 1 => Just(0xFF)], 0..80),
        text in any::<String>(),
    ) {
        let bytes = [start, rest].concat();
        let direct = ImageSize::of(&bytes);
        if bytes.len() <= 48 {
            assert_eq!(ImageSize::of_base64(&base64(&bytes)), direct);
        }
        if let Some(size) = direct {
            assert!(size.width > 0 && size.height > 0);
            assert!((1..=3_279).contains(&size.anthropic_tokens()), "{size:?}");
            assert!((255..=1_445).contains(&size.openai_tokens(Detail::High)), "{size:?}");
        }
        let _ = ImageSize::of_base64(&text);
        let _ = ImageSize::of_base64(&format!("/9j/{text}"));
    }
}
