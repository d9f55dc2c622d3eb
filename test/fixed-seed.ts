import fc from 'fast-check';

/**
 * `npm test` generates the same cases every time, so any failure is caused by the change. `npm run torture` sets
 * `RANDOM_SEEDS` and generates new ones.
 */
if (process.env['RANDOM_SEEDS'] === undefined) fc.configureGlobal({ ...fc.readConfigureGlobal(), seed: 20_261_115 });
