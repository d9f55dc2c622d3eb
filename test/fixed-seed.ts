import fc from 'fast-check';

/**
 * `npm test` draws the same cases every time, so that a red run says something about the change. `npm run torture` sets
 * `RANDOM_SEEDS` and draws new ones.
 */
if (process.env['RANDOM_SEEDS'] === undefined) fc.configureGlobal({ ...fc.readConfigureGlobal(), seed: 20_261_115 });
