/** Builds the list of totals that an entry contributes to. */
const listScopes = (entry: 'OLD' | 'NEW'): string => `(
      SELECT 'day' AS scope, '' AS name
      UNION ALL SELECT 'caller', ${entry}.caller WHERE ${entry}.caller IS NOT NULL
      UNION ALL SELECT 'issue', ${entry}.issue_ref WHERE ${entry}.issue_ref IS NOT NULL)`;

const ADD = `
    INSERT INTO budget_totals (scope, name, day, tokens, cost)
    SELECT scope, name, NEW.at / 86400000, NEW.tokens, NEW.cost FROM ${listScopes('NEW')} WHERE NEW.tokens > 0 OR NEW.cost > 0
    ON CONFLICT (scope, name, day) DO UPDATE SET tokens = tokens + excluded.tokens, cost = cost + excluded.cost;`;

/** Only an update, so an old total that was deleted does not come back. */
const SUBTRACT = `
    UPDATE budget_totals SET tokens = tokens - OLD.tokens, cost = cost - OLD.cost
    WHERE day = OLD.at / 86400000 AND (scope, name) IN ${listScopes('OLD')} AND (OLD.tokens > 0 OR OLD.cost > 0);`;

const isUsed = (entry: 'OLD' | 'NEW'): string => `${entry}.tokens > 0 OR ${entry}.cost > 0`;

/**
 * The migration step that stores budget usage as daily sums: of all runs, and of each caller's or issue's runs.
 * Triggers update the sums, whichever statement changes an entry. Like every step, it never changes.
 */
export const BUDGET_TOTALS = `
  CREATE TABLE budget_totals (
    scope TEXT NOT NULL,
    name TEXT NOT NULL,
    day INTEGER NOT NULL,
    tokens REAL NOT NULL,
    cost REAL NOT NULL,
    PRIMARY KEY (scope, name, day)
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX budget_totals_by_day ON budget_totals (day);
  INSERT INTO budget_totals (scope, name, day, tokens, cost)
    SELECT 'day', '', at / 86400000, sum(tokens), sum(cost) FROM budget_entries
      WHERE tokens > 0 OR cost > 0 GROUP BY 3
    UNION ALL SELECT 'caller', caller, at / 86400000, sum(tokens), sum(cost) FROM budget_entries
      WHERE caller IS NOT NULL AND (tokens > 0 OR cost > 0) GROUP BY 2, 3
    UNION ALL SELECT 'issue', issue_ref, at / 86400000, sum(tokens), sum(cost) FROM budget_entries
      WHERE issue_ref IS NOT NULL AND (tokens > 0 OR cost > 0) GROUP BY 2, 3;
  CREATE TRIGGER budget_entries_added AFTER INSERT ON budget_entries WHEN ${isUsed('NEW')} BEGIN${ADD}
  END;
  CREATE TRIGGER budget_entries_changed AFTER UPDATE ON budget_entries WHEN ${isUsed('OLD')} OR ${isUsed('NEW')} BEGIN${SUBTRACT}${ADD}
  END;
  CREATE TRIGGER budget_entries_removed AFTER DELETE ON budget_entries WHEN ${isUsed('OLD')} BEGIN${SUBTRACT}
  END;
  DROP INDEX budget_entries_used;
  DROP INDEX budget_entries_by_issue;
  `;
