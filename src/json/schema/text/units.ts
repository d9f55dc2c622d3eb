/** Names of the same unit: abbreviations, words, and quantities that are always measured in it. */
const UNITS = [
  'mg milligram milligramm',
  'g gram gramm',
  'kg kilo kilogram kilogramm',
  'lb pound',
  'oz ounce',
  'mm millimeter millimetre',
  'cm centimeter centimetre zentimeter',
  'm meter metre',
  'km kilometer kilometre',
  'mi mile',
  'ft foot feet',
  'ly lightyear light-year lichtjahr',
  'ml milliliter millilitre',
  'l liter litre',
  'ms millisecond millisekunde',
  's sec second sekunde sekunden',
  'min minute minuten',
  'h hr hour stunde stunden',
  'd day tag tage',
  'week woche wochen',
  'month monat monate',
  'age year yr jahr jahre lebensjahre an ano 岁 歳 살',
  'c °c celsius',
  'f °f fahrenheit',
  'kb kilobyte',
  'mb megabyte',
  'gb gigabyte',
  'population inhabitant people resident einwohner habitant habitante 人',
].map((names) => new Set(names.split(' ')));

/**
 * Whether a unit is the one that a key names, in another notation: `20 minutes` for `duration_min`, `30 years` for `age`. Only if
 * the key names one unit: `speed_km_h` names two.
 */
export function isSameUnit(unit: string, keyWords: ReadonlySet<string>): boolean {
  const names = new Set([unit, unit.replace(/s$/, '')]);
  const [named, another] = UNITS.filter((row) =>
    [...keyWords].some((word) => row.has(word) || row.has(word.replace(/s$/, ''))),
  );
  return named !== undefined && another === undefined && [...names].some((name) => named.has(name));
}
