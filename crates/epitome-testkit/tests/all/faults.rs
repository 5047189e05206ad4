use std::time::Duration;

use epitome_testkit::{
    Delivery, Fault, Faults, Kind, ModelConfig, Received, ScriptedModel, Wire, client, generate,
};

async fn faulty(fault: Fault) -> ScriptedModel {
    ScriptedModel::start(ModelConfig {
        faults: Faults::none().on(0, fault),
        ..ModelConfig::default()
    })
    .await
}

async fn ask(model: &ScriptedModel, wire: Wire) -> std::io::Result<Received> {
    client::post(
        model.address(),
        wire,
        &generate::request(wire, Kind::Chat, 1, 3),
    )
    .await
}

#[tokio::test]
async fn error_statuses_have_the_providers_shape() {
    let limited = Fault::RateLimited {
        retry_after_seconds: 7,
    };
    for (fault, status) in [
        (limited, 429),
        (Fault::ServerError, 500),
        (Fault::Overloaded, 529),
    ] {
        for wire in Wire::MESSAGES {
            let model = faulty(fault).await;
            let received = ask(&model, wire).await.unwrap();
            assert_eq!(received.status, status);
            assert!(received.json()["error"]["message"].is_string());
            assert_eq!(
                received.header("retry-after"),
                if status == 429 { "7" } else { "" }
            );
            // Only the numbered request suffers.
            assert_eq!(ask(&model, wire).await.unwrap().status, 200);
        }
    }
}

#[tokio::test]
async fn a_closed_connection_is_no_answer() {
    let model = faulty(Fault::Close).await;
    assert!(ask(&model, Wire::OpenaiChat).await.is_err());
    assert_eq!(model.requests()[0].status, None);
    assert_eq!(model.requests()[0].delivery, Delivery::Abandoned);
}

#[tokio::test]
async fn a_cut_stream_breaks_off_in_the_middle() {
    for wire in Wire::MESSAGES {
        let model = faulty(Fault::Cut).await;
        let received = ask(&model, wire).await.unwrap();
        assert!(!received.is_complete);
        assert!(!received.body.is_empty());
        let whole = ask(&model, wire).await.unwrap();
        assert!(whole.is_complete && whole.body.starts_with(&received.body));
        let deliveries: Vec<Delivery> = model
            .requests()
            .iter()
            .map(|request| request.delivery)
            .collect();
        assert_eq!(deliveries, [Delivery::Abandoned, Delivery::Complete]);
    }
}

#[tokio::test]
async fn hanging_and_stalling_answers_never_end() {
    for fault in [Fault::Hang, Fault::Stall] {
        let model = faulty(fault).await;
        let waited =
            tokio::time::timeout(Duration::from_millis(50), ask(&model, Wire::Anthropic)).await;
        assert!(waited.is_err());
    }
}

#[tokio::test]
async fn a_delay_only_delays() {
    let model = ScriptedModel::start(ModelConfig {
        faults: Faults::none()
            .on(0, Fault::Delay(Duration::from_secs(600)))
            .on(1, Fault::Delay(Duration::from_millis(1))),
        ..ModelConfig::default()
    })
    .await;
    let arrived = async {
        while model.requests().is_empty() {
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
    };
    tokio::select! {
        answer = ask(&model, Wire::OpenaiChat) => panic!("answered: {answer:?}"),
        () = arrived => {}
    }
    assert_eq!(model.requests()[0].status, None, "received, not answered");
    assert_eq!(ask(&model, Wire::OpenaiChat).await.unwrap().status, 200);
}

#[tokio::test]
async fn garbage_is_garbage() {
    let model = faulty(Fault::GarbageBody).await;
    let received = ask(&model, Wire::OpenaiChat).await.unwrap();
    assert_eq!((received.status, received.json().is_null()), (200, true));
    let model = faulty(Fault::GarbageInStream).await;
    let received = ask(&model, Wire::OpenaiChat).await.unwrap();
    assert!(received.events().iter().any(|event| event.name == "what"));
    assert_eq!(received.events().last().unwrap().data, "[DONE]");
}

#[tokio::test]
async fn an_error_event_ends_the_stream() {
    for wire in Wire::MESSAGES {
        let model = faulty(Fault::ErrorInStream).await;
        let received = ask(&model, wire).await.unwrap();
        assert_eq!(received.status, 200);
        assert!(received.events().last().unwrap().json()["error"].is_object());
        assert!(client::assistant_message(wire, &received).is_none());
    }
}

#[tokio::test]
async fn faults_can_come_back() {
    let faults = Faults::none().every(2, Fault::ServerError);
    let model = ScriptedModel::start(ModelConfig {
        faults,
        ..ModelConfig::default()
    })
    .await;
    let mut statuses = Vec::new();
    for _ in 0..4 {
        statuses.push(ask(&model, Wire::OpenaiChat).await.unwrap().status);
    }
    assert_eq!(statuses, [500, 200, 500, 200]);
}
