/** Month names in English, German, French, Spanish, Italian and Portuguese, without accents. */
const MONTH_NAMES = [
  'jan january januar janvier enero gennaio janeiro',
  'feb february februar fevrier febrero febbraio fevereiro',
  'mar march mrz marz maerz mars marzo marco',
  'apr april avril abril aprile',
  'may mai mayo maggio maio',
  'jun june juni juin junio giugno junho',
  'jul july juli juillet julio luglio julho',
  'aug august aout agosto',
  'sep sept september septembre septiembre settembre setembro',
  'oct october okt oktober octobre octubre ottobre outubro',
  'nov november novembre noviembre novembro',
  'dec december dez dezember decembre diciembre dicembre dezembro',
];

const MONTHS: ReadonlyMap<string, number> = new Map(
  MONTH_NAMES.flatMap((names, index) => names.split(' ').map((name) => [name, index + 1] as const)),
);

/** Reads a month name; returns 0 for anything else. */
export function readMonth(name: string): number {
  return MONTHS.get(name) ?? 0;
}
