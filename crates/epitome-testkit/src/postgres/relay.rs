//! Between a client and a server: counts round trips, and cuts the connection after some.

use std::io::{Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

use sqlx::postgres::PgConnectOptions;

use super::{Cluster, Database};

/// `ReadyForQuery`: the server's last word of every round trip.
const READY: u8 = b'Z';

/// How often it is looked whether a host is back.
const PAUSE: Duration = Duration::from_millis(20);

/// A port on loopback that leads to a database.
#[derive(Debug)]
pub struct Relay {
    url: String,
    counts: Arc<Counts>,
    target: Arc<Mutex<Target>>,
}

#[derive(Debug)]
struct Counts {
    passed: AtomicU64,
    most: AtomicU64,
    is_silent: AtomicBool,
}

#[derive(Debug, Clone)]
enum Target {
    Socket(PathBuf),
    Host(String, u16),
}

impl Target {
    fn of(options: &PgConnectOptions) -> Self {
        match options.get_socket() {
            Some(folder) => {
                let file = format!(".s.PGSQL.{}", options.get_port());
                Self::Socket(folder.join(file))
            }
            None => Self::Host(options.get_host().to_owned(), options.get_port()),
        }
    }
}

impl Relay {
    /// One that leads to `database`, and cuts nothing.
    ///
    /// # Panics
    /// When there is no port.
    #[must_use]
    pub fn to(database: &Database) -> Self {
        Self::of(database.url(), database.name())
    }

    /// One that leads to the database `postgres` of a server of the test's own.
    ///
    /// # Panics
    /// When there is no port.
    #[must_use]
    pub fn to_cluster(cluster: &Cluster) -> Self {
        Self::of(&cluster.url("postgres"), "postgres")
    }

    fn of(url: &str, name: &str) -> Self {
        let options: PgConnectOptions = url.parse().unwrap();
        let target = Arc::new(Mutex::new(Target::of(&options)));
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let counts = Arc::new(Counts {
            passed: AtomicU64::new(0),
            most: AtomicU64::new(u64::MAX),
            is_silent: AtomicBool::new(false),
        });
        let shared = (Arc::clone(&counts), Arc::clone(&target));
        // It ends with the process.
        thread::spawn(move || {
            for client in listener.incoming() {
                let (counts, target) = shared.clone();
                let target = target.lock().unwrap().clone();
                thread::spawn(move || connect(&client.unwrap(), &target, &counts));
            }
        });
        let user = options.get_username();
        Self {
            url: format!("postgres://{user}@127.0.0.1:{port}/{name}?sslmode=disable"),
            counts,
            target,
        }
    }

    /// From now on new connections lead to `cluster`, as when an address is switched.
    ///
    /// # Panics
    /// Never.
    pub fn switch_to(&self, cluster: &Cluster) {
        let options: PgConnectOptions = cluster.url("postgres").parse().unwrap();
        *self.target.lock().unwrap() = Target::of(&options);
    }

    /// The address to connect to.
    #[must_use]
    pub fn url(&self) -> &str {
        &self.url
    }

    /// How many answers of the server went by.
    #[must_use]
    pub fn round_trips(&self) -> u64 {
        self.counts.passed.load(Ordering::SeqCst)
    }

    /// From now on nothing comes back on any connection, and nobody hangs up: the host is gone without a word. Connections that
    /// are made later work as long as they are not silenced too.
    pub fn fall_silent(&self) {
        self.counts.is_silent.store(true, Ordering::SeqCst);
    }

    /// New connections work again; those that fell silent stay so.
    pub fn speak_again(&self) {
        self.counts.is_silent.store(false, Ordering::SeqCst);
    }

    /// Lets so many more answers pass; then every connection is cut, and every new one.
    pub fn cut_after(&self, round_trips: u64) {
        let most = self.round_trips().saturating_add(round_trips);
        self.counts.most.store(most, Ordering::SeqCst);
    }
}

impl Counts {
    /// Whether one more may pass.
    fn pass(&self) -> bool {
        let most = self.most.load(Ordering::SeqCst);
        let next = |passed: u64| (passed < most).then_some(passed + 1);
        let (set, fetch) = (Ordering::SeqCst, Ordering::SeqCst);
        self.passed.fetch_update(set, fetch, next).is_ok()
    }
}

/// Whoever cannot be connected finds the line dead.
fn connect(client: &TcpStream, target: &Target, counts: &Counts) {
    match target {
        Target::Socket(path) => {
            if let Ok(server) = UnixStream::connect(path) {
                let end = |server: &UnixStream| drop(server.shutdown(Shutdown::Both));
                relay(client, &server, counts, || end(&server));
            }
        }
        Target::Host(host, port) => {
            if let Ok(server) = TcpStream::connect((host.as_str(), *port)) {
                let end = |server: &TcpStream| drop(server.shutdown(Shutdown::Both));
                relay(client, &server, counts, || end(&server));
            }
        }
    }
}

/// Both ways, until either end is gone.
fn relay<S>(client: &TcpStream, server: S, counts: &Counts, end_server: impl Fn() + Sync)
where
    S: Read + Write + Copy + Send,
{
    // The pieces of an answer do not wait for each other.
    let _ = client.set_nodelay(true);
    let (mut questions, mut to_server) = (client, server);
    let end = || {
        let _ = client.shutdown(Shutdown::Both);
        end_server();
    };
    thread::scope(|scope| {
        scope.spawn(|| {
            let _ = std::io::copy(&mut questions, &mut to_server);
            end();
        });
        answer(server, client, counts);
        end();
    });
}

/// Message by message: a letter, the length with itself, and the rest.
fn answer(mut server: impl Read, mut client: &TcpStream, counts: &Counts) {
    // Whoever fell silent says nothing any more, also when others do.
    let mut is_cut_off = false;
    loop {
        let mut message = vec![0; 5];
        if server.read_exact(&mut message).is_err() {
            return;
        }
        let length = u32::from_be_bytes([message[1], message[2], message[3], message[4]]);
        let rest = u64::from(length).saturating_sub(4);
        let read = server.by_ref().take(rest).read_to_end(&mut message);
        if read.is_err() || message[0] == READY && !counts.pass() {
            return;
        }
        while counts.is_silent.load(Ordering::SeqCst) {
            is_cut_off = true;
            thread::sleep(PAUSE);
        }
        if !is_cut_off && client.write_all(&message).is_err() {
            return;
        }
    }
}
