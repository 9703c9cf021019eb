//! Removes finished layers in the background, on one thread.

use std::path::{Path, PathBuf};
use std::sync::mpsc::{self, Sender};
use std::sync::{Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use crate::files::layer::folder;
use crate::files::layer::folder::LayerFolder;

/// How long after a sweep haft does not look again: other processes seldom leave layers behind.
const SWEPT: Duration = Duration::from_secs(60);

/// Who removes, as soon as there is something to remove. It is waited for in the end.
#[derive(Default)]
pub(in crate::files::layer) struct Removing {
    hand: Mutex<Option<(Sender<LayerCleanup>, JoinHandle<()>)>>,
    /// When each folder was looked through.
    swept: Mutex<Vec<(PathBuf, Instant)>>,
}

/// The work of the thread that removes layers.
enum LayerCleanup {
    Remove(LayerFolder),
    Sweep(PathBuf),
}

impl Removing {
    /// Removes a layer.
    pub(in crate::files::layer) fn remove(&self, folder: LayerFolder) {
        self.let_do(LayerCleanup::Remove(folder));
    }

    /// Returns whether it is time to look for what others left behind. Who asks looks.
    pub(in crate::files::layer) fn is_sweep_due(&self, beneath: &Path) -> bool {
        let mut swept = self.swept.lock().unwrap_or_else(PoisonError::into_inner);
        let now = Instant::now();
        match swept.iter_mut().find(|(folder, _)| folder == beneath) {
            Some((_, last)) if now.duration_since(*last) < SWEPT => return false,
            Some((_, last)) => *last = now,
            None => swept.push((beneath.to_owned(), now)),
        }
        true
    }

    /// Removes what others left behind who are gone.
    pub(in crate::files::layer) fn sweep(&self, beneath: &Path) {
        self.let_do(LayerCleanup::Sweep(beneath.to_owned()));
    }

    fn let_do(&self, work: LayerCleanup) {
        let mut hand = self.hand.lock().unwrap_or_else(PoisonError::into_inner);
        if hand.is_none() {
            let (sender, works) = mpsc::channel::<LayerCleanup>();
            let run = move || works.into_iter().for_each(do_one);
            // Without a thread, the next process removes it.
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

fn do_one(work: LayerCleanup) {
    match work {
        LayerCleanup::Remove(folder) => folder.remove(),
        LayerCleanup::Sweep(beneath) => folder::sweep(&beneath),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_is_looked_through_once_and_then_only_after_a_while() {
        let removing = Removing::default();
        let [one, other] = ["/one", "/other"].map(Path::new);
        assert!(removing.is_sweep_due(one) && removing.is_sweep_due(other));
        assert!(!removing.is_sweep_due(one) && !removing.is_sweep_due(other));
        {
            let mut swept = removing.swept.lock().expect("nobody panicked");
            swept[0].1 = swept[0].1.checked_sub(SWEPT).expect("the machine runs for longer");
        }
        assert!(removing.is_sweep_due(one) && !removing.is_sweep_due(other));
    }
}
