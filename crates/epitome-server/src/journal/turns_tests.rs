use super::*;

async fn slow() -> u8 {
    clock::sleep(READ_DEADLINE * 4).await;
    1
}

#[tokio::test]
async fn only_a_few_histories_are_read_for_long() {
    let long_reads = Semaphore::new(2);
    let read = || patiently(slow(), &long_reads);
    let (one, two, three) = tokio::join!(read(), read(), read());
    let all = [one, two, three];
    assert_eq!(all.iter().flatten().count(), 2, "{all:?}");
    assert_eq!(read().await, Some(1), "there is room again");
    let _all = long_reads.acquire_many(2).await.unwrap();
    assert_eq!(read().await, None);
    let quick = std::future::ready(2);
    assert_eq!(patiently(quick, &long_reads).await, Some(2));
}
