//! Tests which hosts haft reaches, on the first hop and on later ones.

use super::*;

#[tokio::test]
async fn every_address_of_a_name_is_judged_and_only_judged_ones_are_dialled() {
    let mixed =
        FetchScene::new().name("mixed.example", &["10.0.0.1", "93.184.215.14", "169.254.169.254"]).page("", "fine");
    assert_eq!(mixed.told("http://mixed.example/").await, "200 fine");
    assert_eq!(mixed.dialled(), ["93.184.215.14"]);

    let flipping = FetchScene::new().name("flip.example", &["93.184.215.14"]).name("flip.example", &["10.0.0.1"]);
    let flipping = flipping.page("", "fine");
    assert_eq!(flipping.told("http://flip.example/").await, "200 fine");
    assert!(flipping.told("http://flip.example/").await.starts_with("denied: flip.example was not contacted"));
    assert_eq!(flipping.dialled(), ["93.184.215.14"]);
}

#[tokio::test]
async fn a_private_host_is_fetched_from_only_where_the_settings_name_it() {
    let scene = || ListedHosts { allow: vec!["wiki.corp.example", "10.0.0.9", "localhost"], deny: vec![] };
    let scene = |name: &str, address: &str| FetchScene::ruled(scene()).name(name, &[address]).page("", "fine");
    assert_eq!(scene("wiki.corp.example", "10.1.1.1").told("http://wiki.corp.example/").await, "200 fine");
    assert_eq!(scene("localhost", "127.0.0.1").told("http://localhost:3000/").await, "200 fine");
    assert_eq!(scene("x", "10.0.0.9").told("http://10.0.0.9/").await, "200 fine");
    for (name, address, url) in [
        ("other.corp.example", "10.1.1.1", "http://other.corp.example/"),
        ("wiki.corp.example", "169.254.169.254", "http://wiki.corp.example/"),
        ("x", "10.0.0.8", "http://10.0.0.8/"),
        ("api.localhost", "127.0.0.1", "http://api.localhost/"),
    ] {
        let scene = scene(name, address);
        let told = scene.told(url).await;
        assert!(told.starts_with("denied: "), "{url}: {told}");
        assert!(scene.dialled().is_empty(), "{url}");
    }
}

#[tokio::test]
async fn a_redirect_to_another_host_is_decided_about_before_it_is_reached() {
    let scene = |person| {
        let scene = FetchScene::ruled(ListedHosts { allow: vec!["granted.example"], deny: vec!["denied.example"] });
        let scene = scene.name("other.example", &["93.184.215.14"]).name("granted.example", &["93.184.215.14"]);
        FetchScene { person, ..scene.name("denied.example", &["93.184.215.14"]) }
    };
    let allow = || Some(Decision::Allow { raw: false, private: false });
    let refuse = || Some(Decision::Refuse { why: "The user said no.".into() });
    for (to, person, told) in [
        ("http://other.example/x", allow(), "200 fine"),
        ("http://other.example/x", refuse(), "denied: The document is redirected to other.example, which was not"),
        ("http://other.example/x", None, "denied: The document is redirected to other.example, which was not"),
        ("http://granted.example/x", None, "200 fine"),
        ("http://denied.example/x", allow(), "denied: The document is redirected to denied.example"),
        ("/x", None, "200 fine"),
        ("//good.example/y", None, "200 fine"),
        ("http://10.0.0.1/", allow(), "denied: 10.0.0.1 was not contacted"),
        ("http://0x7f.1/", allow(), "denied: 127.0.0.1 was not contacted"),
        ("http://localhost/", allow(), "denied: localhost was not contacted"),
        ("file:///etc/passwd", allow(), "denied: A redirect of good.example was not followed"),
        ("http://u:p@good.example/", allow(), "denied: A redirect of good.example was not followed"),
        ("http://good.example/", allow(), "denied: A redirect of good.example was not followed: it leads in a circle"),
    ] {
        let scene = scene(person).redirect(to).page("", "fine");
        let found = scene.told("http://good.example/").await;
        assert!(found.starts_with(told), "{to}: {found}");
        assert_eq!(scene.dialled().len(), if told == "200 fine" { 2 } else { 1 }, "{to}");
    }
}

#[tokio::test]
async fn a_redirect_from_https_to_http_is_not_followed() {
    let scene = FetchScene::new().redirect("http://good.example/plain").page("", "fine");
    let told = scene.told("https://good.example/").await;
    assert_eq!(told, "denied: A redirect of good.example was not followed: it leads from https to http.");
}

#[tokio::test]
async fn redirects_end() {
    let scene = (1..=6).fold(FetchScene::new(), |scene, number| scene.redirect(&format!("/{number}")));
    let told = scene.told("http://good.example/0").await;
    assert!(told.ends_with("it is redirected more than 5 times."), "{told}");
    assert_eq!(scene.dialled().len(), 6);
}

#[tokio::test]
async fn no_hop_sends_a_cookie_a_user_or_a_referrer() {
    let head = "HTTP/1.1 302 Found\r\nlocation: /next\r\nset-cookie: id=1\r\ncontent-length: 0\r\n\r\n";
    let scene = FetchScene::new().sends(&[head.as_bytes()]).page("", "fine");
    assert_eq!(scene.told("http://good.example/first?q=1#part").await, "200 fine");
    let asked = scene.asked();
    assert!(asked[0].starts_with("GET /first?q=1 HTTP/1.1\r\nhost: good.example\r\n"), "{}", asked[0]);
    for request in asked {
        let request = request.to_lowercase();
        assert!(!["cookie", "authorization", "referer"].iter().any(|name| request.contains(name)), "{request}");
    }
}

#[tokio::test]
async fn a_fresh_answer_is_used_again_and_a_stale_one_is_asked_about() {
    let scene = FetchScene::new().page("cache-control: max-age=60\r\n", "one").page("", "two");
    assert_eq!(scene.told("http://good.example/").await, "200 one");
    assert!(scene.fetch("http://good.example/").await.unwrap().is_kept);
    assert_eq!(scene.asked().len(), 1);

    let unchanged = b"HTTP/1.1 304 Not Modified\r\netag: \"1\"\r\n\r\n";
    let scene = FetchScene::new().page("etag: \"1\"\r\ncache-control: no-cache\r\n", "one").sends(&[unchanged]);
    assert_eq!(scene.told("http://good.example/").await, "200 one");
    assert_eq!(scene.told("http://good.example/").await, "200 one");
    assert!(scene.asked()[1].contains("if-none-match: \"1\""));

    let scene = FetchScene::new().page("cache-control: no-store\r\netag: \"1\"\r\n", "one").page("", "two");
    assert_eq!(scene.told("http://good.example/").await, "200 one");
    assert_eq!(scene.told("http://good.example/").await, "200 two");
    assert!(!scene.asked()[1].contains("if-none-match"));
}

#[tokio::test]
async fn what_is_kept_is_not_a_way_around_the_rules() {
    let world = FetchScene::ruled(ListedHosts { allow: vec![], deny: vec!["other.example"] });
    let world = world.name("other.example", &["93.184.215.14"]).page("cache-control: max-age=60\r\n", "one");
    assert_eq!(world.told("http://other.example/").await, "200 one");
    let redirecting = FetchScene { person: None, ..world };
    redirecting.world.scripts.lock().unwrap().clear();
    let redirecting = redirecting.redirect("http://other.example/");
    assert!(redirecting.told("http://good.example/").await.starts_with("denied: "));
}
