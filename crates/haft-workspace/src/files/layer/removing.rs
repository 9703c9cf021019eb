//! Layers that are done with are removed while nobody waits, by one thread.

use std::path::{Path, PathBuf};
use std::sync::mpsc::{self, Sender};
use std::sync::{Mutex, PoisonError};
use std::thread::JoinHandle;

use super::folder::{self, LayerFolder};

/// Who removes, as soon as there is something to remove. It is waited for in the end.
#[derive(Default)]
pub(super) struct Removing {
    hand: Mutex<Option<(Sender<Work>, JoinHandle<()>)>>,
}

enum Work {
    Remove(LayerFolder),
    Sweep(PathBuf),
}

impl Removing {
    /// Removes a layer.
    pub(super) fn remove(&self, folder: LayerFolder) {
        self.let_do(Work::Remove(folder));
    }

    /// Removes what others left behind who are gone.
    pub(super) fn sweep(&self, beneath: &Path) {
        self.let_do(Work::Sweep(beneath.to_owned()));
    }

    fn let_do(&self, work: Work) {
        let mut hand = self.hand.lock().unwrap_or_else(PoisonError::into_inner);
        if hand.is_none() {
            let (sender, works) = mpsc::channel::<Work>();
            let run = move || works.into_iter().for_each(do_one);
            // Without a thread, whoever comes next removes it.
            let thread = std::thread::Builder::new().name("haft-layers".into()).spawn(run);
            *hand = thread.ok().map(|thread| (sender, thread));
        }
        if let Some((sender, _)) = &*hand {
            let _ = sender.send(work);
        }
    }
}

impl Drop for Removing {
    fn drop(&mut self) {
        let hand = self.hand.get_mut().unwrap_or_else(PoisonError::into_inner);
        if let Some((sender, thread)) = hand.take() {
            drop(sender);
            let _ = thread.join();
        }
    }
}

fn do_one(work: Work) {
    match work {
        Work::Remove(folder) => folder.remove(),
        Work::Sweep(beneath) => folder::sweep(&beneath),
    }
}
