//! CPU per warm request: this proxy, store on, beside nginx, in one run.
//!
//! Distinct growing conversations of about 20, 200 and 800 KB. The proxies run in processes of their own; their
//! CPU time is read from the kernel. Wall-clock time plays no part.
#![expect(
    clippy::unwrap_used,
    clippy::print_stdout,
    clippy::indexing_slicing,
    clippy::panic,
    reason = "a bench is a program for developers: it stops at the first surprise"
)]

use std::net::SocketAddr;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use epitome_server::{Config, INSPECTION_LIMIT_BYTES, Mode, Server, StoreLocation};
use epitome_testkit::generate::{Growth, Kind};
use epitome_testkit::{ModelConfig, ScriptedModel, Wire, client};

const ROLE: &str = "EPITOME_BENCH_ROLE";
const PORTS: [u16; 3] = [17_801, 17_802, 17_803];
const SIZES: [usize; 3] = [20_000, 200_000, 800_000];
const CONVERSATIONS: u64 = 4;
const TARGET: f64 = 5.0;

fn main() {
    match std::env::var(ROLE).as_deref() {
        Ok("model") => serve_model(),
        Ok("proxy") => epitome_server::runtime().unwrap().block_on(serve_proxy()),
        _ => compare(),
    }
}

fn address(port: u16) -> SocketAddr {
    SocketAddr::from(([127, 0, 0, 1], port))
}

#[tokio::main(flavor = "current_thread")]
async fn serve_model() {
    let config = ModelConfig {
        unchecked: true,
        keeps_records: false,
        ..ModelConfig::default()
    };
    let _model = ScriptedModel::bind(address(PORTS[0]), config)
        .await
        .unwrap();
    std::future::pending::<()>().await;
}

async fn serve_proxy() {
    let folder = std::env::var("EPITOME_BENCH_FOLDER").unwrap();
    let upstream: http::Uri = format!("http://{}", address(PORTS[0])).parse().unwrap();
    let config = Config {
        listen: address(PORTS[1]),
        openai_upstream: Some(upstream.clone()),
        anthropic_upstream: Some(upstream),
        store: StoreLocation::Url(format!("sqlite:{folder}/bench.db")),
        window_tokens: Some(100_000_000),
        windows: epitome_server::ConfiguredWindows::none(),
        mode: Mode::Act,
        settings: epitome::settings::Settings::of(epitome::PresetName::Default),
        summariser: None,
        hooks: epitome_engine::Hooks::default(),
        pruning: epitome_server::Pruning::Off,
        inspection_limit_bytes: INSPECTION_LIMIT_BYTES,
        tenants: epitome_server::TenantSettings::default(),
    };
    Server::bind(config)
        .await
        .unwrap()
        .run(std::future::pending())
        .await
        .unwrap();
}

/// A process that ends with the bench.
struct Running(Child);

impl Drop for Running {
    fn drop(&mut self) {
        self.0.kill().ok();
        self.0.wait().ok();
    }
}

fn start(role: &str, folder: &str) -> Running {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.env(ROLE, role).env("EPITOME_BENCH_FOLDER", folder);
    Running(
        command
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap(),
    )
}

fn start_nginx(folder: &str) -> Option<Running> {
    let config = format!(
        "daemon off; master_process off; pid {folder}/nginx.pid; error_log {folder}/nginx.log;
         events {{ worker_connections 64; }}
         http {{
           access_log off; client_max_body_size 0; client_body_buffer_size 2m;
           client_body_temp_path {folder}/body; proxy_temp_path {folder}/proxy;
           fastcgi_temp_path {folder}/fastcgi; uwsgi_temp_path {folder}/uwsgi; scgi_temp_path {folder}/scgi;
           upstream model {{ server {}; keepalive 16; }}
           server {{
             listen {};
             location / {{ proxy_pass http://model; proxy_http_version 1.1; proxy_set_header Connection \"\"; proxy_buffering off; }}
           }}
         }}",
        address(PORTS[0]),
        address(PORTS[2])
    );
    let path = format!("{folder}/nginx.conf");
    std::fs::write(&path, config).unwrap();
    let mut command = Command::new("nginx");
    command.args(["-c", &path, "-p", folder]);
    command
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .ok()
        .map(Running)
}

#[tokio::main(flavor = "current_thread")]
async fn compare() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path().to_str().unwrap();
    let _model = start("model", folder);
    let proxy = start("proxy", folder);
    let nginx = start_nginx(folder);
    for port in PORTS.iter().take(if nginx.is_some() { 3 } else { 2 }) {
        wait_for(*port).await;
    }
    println!(
        "CPU per warm request, milliseconds (user + system), {CONVERSATIONS} growing conversations, store on"
    );
    println!(
        "{:>10} {:>10} {:>10} {:>8}",
        "body", "epitome", "nginx", "ratio"
    );
    for (at, size) in SIZES.into_iter().enumerate() {
        let rounds = [60, 40, 25][at];
        let conversations: Vec<Vec<Vec<u8>>> = (0..CONVERSATIONS)
            .map(|seed| bodies(size, seed + 100 * at as u64, rounds))
            .collect();
        let ours = measure(&proxy, PORTS[1], &conversations).await;
        match &nginx {
            Some(nginx) => {
                let floor = measure(nginx, PORTS[2], &conversations).await;
                println!(
                    "{:>7} KB {ours:>10.3} {floor:>10.3} {:>7.1}x  target {TARGET}x",
                    size / 1000,
                    ours / floor
                );
            }
            None => println!("{:>7} KB {ours:>10.3} {:>10}", size / 1000, "not found"),
        }
    }
    if nginx.is_none() {
        println!("nginx is not installed: no ratio (Debian package nginx-light)");
    }
}

async fn wait_for(port: u16) {
    for _ in 0..200 {
        if tokio::net::TcpStream::connect(address(port)).await.is_ok() {
            return;
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    panic!("nothing listens on port {port}");
}

/// `rounds` bodies of one conversation from `size` bytes on, each one step longer than the one before.
fn bodies(size: usize, seed: u64, rounds: usize) -> Vec<Vec<u8>> {
    Growth::new(Wire::OpenaiChat, Kind::ToolHeavy, seed)
        .map(|body| serde_json::to_vec(&body).unwrap())
        .skip_while(|body| body.len() < size)
        .take(rounds)
        .collect()
}

/// The first body of each conversation warms up; the rest is measured.
async fn measure(process: &Running, port: u16, conversations: &[Vec<Vec<u8>>]) -> f64 {
    for conversation in conversations {
        post(port, &conversation[0]).await;
    }
    // Entries of the first bodies are written behind the answers.
    tokio::time::sleep(Duration::from_millis(1_500)).await;
    let before = cpu_nanoseconds(process.0.id());
    let mut count = 0_u32;
    for round in 1..conversations[0].len() {
        for conversation in conversations {
            post(port, &conversation[round]).await;
            count += 1;
        }
    }
    tokio::time::sleep(Duration::from_millis(500)).await;
    (cpu_nanoseconds(process.0.id()) - before) as f64 / f64::from(count) / 1e6
}

async fn post(port: u16, body: &[u8]) {
    let headers = [
        ("content-type", "application/json"),
        ("authorization", "Bearer none"),
    ];
    let path = Wire::OpenaiChat.path();
    let answer = client::send(
        address(port),
        &http::Method::POST,
        path,
        &headers,
        body.to_vec().into(),
    )
    .await;
    assert_eq!(answer.unwrap().status, 200);
}

/// CPU time of a process and its children (nginx works in one), from the scheduler.
fn cpu_nanoseconds(pid: u32) -> u64 {
    let children =
        std::fs::read_to_string(format!("/proc/{pid}/task/{pid}/children")).unwrap_or_default();
    let own: u64 = std::fs::read_dir(format!("/proc/{pid}/task"))
        .unwrap()
        .filter_map(|task| std::fs::read_to_string(task.ok()?.path().join("schedstat")).ok())
        .filter_map(|stat| stat.split_whitespace().next()?.parse::<u64>().ok())
        .sum();
    let below: u64 = children
        .split_whitespace()
        .filter_map(|child| child.parse().ok())
        .map(cpu_nanoseconds)
        .sum();
    own + below
}
