//! Notebooks are read as cells.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use haft_contract::outcome::output::Content;
use haft_testkit::scene::Scene;
use haft_testkit::snapshot;
use serde_json::{Value, json};

/// A picture of one pixel.
fn png() -> Vec<u8> {
    let mut png = b"\x89PNG\r\n\x1a\n\0\0\0\x0dIHDR\0\0\0\x01\0\0\0\x01\x08\0\0\0\0\0\0\0\0".to_vec();
    png.extend(b"\0\0\0\0IEND\xaeB`\x82");
    png
}

fn notebook(cells: Value) -> String {
    json!({ "nbformat": 4, "nbformat_minor": 5, "metadata": { "kernelspec": { "language": "python" } }, "cells": cells })
        .to_string()
}

#[tokio::test]
async fn a_notebook_is_shown_as_its_cells_with_outputs_and_images() {
    let cells = json!([
        { "cell_type": "markdown", "metadata": {}, "source": ["# Title\n", "words"] },
        { "cell_type": "code", "execution_count": 3, "metadata": {}, "source": "plot(x)\n1 + 1", "outputs": [
            { "output_type": "stream", "name": "stdout", "text": ["10 %\r100 %\n"] },
            { "output_type": "display_data", "data": { "image/png": STANDARD.encode(png()), "text/plain": "<Figure>" } },
            { "output_type": "execute_result", "execution_count": 3, "data": { "text/plain": "2" } },
            { "output_type": "error", "ename": "E", "evalue": "x", "traceback": ["\u{1b}[31mE\u{1b}[0m: x"] }
        ] }
    ]);
    let scene = Scene::new().file("a.ipynb", notebook(cells));
    let result = scene.call("read_file", json!({ "path": "a.ipynb" })).await;
    snapshot!(result.text(), @"
    [notebook with 2 cells (python); its JSON: offset=1]
    --- cell 1: markdown ---
    # Title
    words
    --- cell 2: code [3] ---
    plot(x)
    1 + 1
    --- output of cell 2 ---
    100 %
    [image 1: image/png, 1 × 1 pixels]
    2
    E: x
    ");
    let images = result.content.iter().filter(|content| matches!(content, Content::Image(_))).count();
    assert_eq!(images, 1);
}

#[tokio::test]
async fn whoever_asks_for_lines_of_a_notebook_gets_its_json() {
    let scene = Scene::new().file("a.ipynb", notebook(json!([])));
    let text = scene.told("read_file", json!({ "path": "a.ipynb", "offset": 1 })).await;
    assert!(text.contains("\"nbformat\":4"), "{text}");
}

#[tokio::test]
async fn a_broken_notebook_is_shown_as_text() {
    let scene = Scene::new().file("a.ipynb", "{\"cells\": [").file("b.ipynb", "{\"cells\": 3}");
    assert!(scene.told("read_file", json!({ "path": "a.ipynb" })).await.contains("1\t{\"cells\": ["));
    assert!(scene.told("read_file", json!({ "path": "b.ipynb" })).await.contains("1\t{\"cells\": 3}"));
}

#[tokio::test]
async fn a_long_notebook_ends_where_the_result_is_full() {
    let cell = json!({ "cell_type": "code", "metadata": {}, "source": "x".repeat(3_000), "outputs": [
        { "output_type": "stream", "text": "y".repeat(100_000) }
    ] });
    let scene = Scene::new().file("a.ipynb", notebook(vec![cell; 30].into()));
    let result = scene.call("read_file", json!({ "path": "a.ipynb" })).await;
    let text = result.text();
    assert!(text.chars().count() <= 32_000 && result.spilled.is_none());
    assert!(text.contains("98,001 characters of the output left out") && text.contains("to 30 did not fit"), "{text}");
}
