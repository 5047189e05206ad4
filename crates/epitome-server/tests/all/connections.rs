//! Connections that end when nobody expects it: pooled ones that died, half of a request at the end of a server.

use std::io::Write;
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use epitome_testkit::{Fault, Faults, ModelConfig, Wire, client};

use crate::support::{Proxy, config, eventually, pair, read_request, request, user};

const ANSWER: &[u8] =
    b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 2\r\n\r\n{}";

/// A server that answers so many requests on each connection, reads one more and closes without a word. Says how many
/// requests it has read.
fn forgetful(answers: &'static [usize]) -> (SocketAddr, Arc<AtomicUsize>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let read = Arc::new(AtomicUsize::new(0));
    let counter = Arc::clone(&read);
    std::thread::spawn(move || {
        for answers in answers {
            let (mut stream, _) = listener.accept().unwrap();
            for _ in 0..*answers {
                read_request(&mut stream);
                counter.fetch_add(1, Ordering::SeqCst);
                stream.write_all(ANSWER).unwrap();
            }
            read_request(&mut stream);
            counter.fetch_add(1, Ordering::SeqCst);
        }
    });
    (address, read)
}

#[tokio::test]
async fn a_pooled_connection_that_died_is_replaced_once() {
    let (address, read) = forgetful(&[1, 1, 0]);
    let proxy = Proxy::start(config(address)).await;
    let hello = request(Wire::OpenaiChat, "m", [user("hello")]);
    assert_eq!(proxy.post(Wire::OpenaiChat, &hello).await.status, 200);
    // The first connection is closed under this one; the second answers.
    assert_eq!(proxy.post(Wire::OpenaiChat, &hello).await.status, 200);
    assert_eq!(read.load(Ordering::SeqCst), 3);
    // The second connection is closed under this one, and so is the new one: nobody tries a third time.
    let got = proxy.post(Wire::OpenaiChat, &hello).await;
    assert_eq!(got.status, 502, "{got:?}");
    assert_eq!(read.load(Ordering::SeqCst), 5);
}

#[tokio::test]
async fn a_new_connection_that_is_closed_is_not_replaced() {
    let (address, read) = forgetful(&[0, 1]);
    let proxy = Proxy::start(config(address)).await;
    let hello = request(Wire::Anthropic, "m", [user("hello")]);
    assert_eq!(proxy.post(Wire::Anthropic, &hello).await.status, 502);
    assert_eq!(read.load(Ordering::SeqCst), 1);
}

/// What is not a whole request does not hold up the end of a server; an answer that has begun is finished.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn half_of_a_request_does_not_keep_a_server_alive() {
    let model = ModelConfig {
        faults: Faults::none().on(0, Fault::Delay(Duration::from_secs(4))),
        ..ModelConfig::default()
    };
    let (model, proxy) = pair(model, |_| {}).await;
    let halves: Vec<TcpStream> = [
        "",
        "POST /v1/mess",
        "POST /v1/messages HTTP/1.1\r\nhost: localhost\r\ncontent-le",
        "POST /v1/messages HTTP/1.1\r\nhost: localhost\r\ncontent-length: 1000\r\n\r\n{\"model\"",
        "GET /healthz HTTP/1.1\r\nhost: localhost\r\n\r\n",
        "GET /healthz HTTP/1.1\r\nhost: localhost\r\n\r\nGET /heal",
    ]
    .iter()
    .map(|half| {
        let mut stream = TcpStream::connect(proxy.address).unwrap();
        stream.write_all(half.as_bytes()).unwrap();
        stream
    })
    .collect();
    let hello = request(Wire::Anthropic, "m", [user("hello")]);
    let (address, sent) = (proxy.address, hello.clone());
    let mut answers = tokio::task::JoinSet::new();
    answers.spawn(async move { client::post(address, Wire::Anthropic, &sent).await.unwrap() });
    eventually("it was received", || model.requests().len() == 1).await;
    let ended = tokio::time::timeout(Duration::from_secs(30), proxy.stop()).await;
    assert!(ended.is_ok(), "it did not end");
    let answer = answers.join_next().await.unwrap().unwrap();
    assert_eq!((answer.status, answer.is_complete), (200, true));
    drop(halves);
}
