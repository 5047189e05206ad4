use super::Location;

#[test]
fn parts() {
    let location = "postgres://me:se%40cret@db.example:6432/log?max_connections=3&sslmode=require\
        &direct_url=postgres%3A%2F%2Fme%3Apw%40direct.example%2Flog";
    let location = Location::parse(location).unwrap();
    assert_eq!(location.max_connections, 3);
    assert_eq!(location.options.get_host(), "db.example");
    assert_eq!(location.options.get_port(), 6432);
    assert_eq!(location.options.get_database(), Some("log"));
    assert_eq!(location.options.get_application_name(), Some("epitome"));
    assert_eq!(location.direct.get_host(), "direct.example");
    let plain = Location::parse("postgresql://me@db.example/log").unwrap();
    assert_eq!(plain.direct.get_host(), "db.example");
    assert_eq!(plain.max_connections, 10);
}

#[test]
fn what_is_wrong_is_said_without_the_password() {
    for bad in [
        "postgres://me:hunter2@db:no/log",
        "postgres://me:hunter2@db/log?max_connections=0",
        "postgres://me:hunter2@db/log?max_connections=hunter2",
        "postgres://me@db/log?pasword=hunter2",
        "postgres://me@db/log?sslmode=hunter2",
        "postgres://me@db/log?direct_url=postgres://me:hunter2@db:no/log",
        "postgres://me@db/log?direct_url=hunter2%2",
        "postgres://me@db/log?direct_url=hunter2%zz",
        "postgres:hunter2",
    ] {
        let Err(error) = Location::parse(bad) else {
            panic!("{bad} was read");
        };
        let said = format!("{error} {error:?}");
        assert!(!said.contains("hunter2"), "{said}");
    }
}
