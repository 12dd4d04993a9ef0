/** Imported before everything else, so that what loading costs is measured as well. */

export const LOADING_STARTED = performance.now();
