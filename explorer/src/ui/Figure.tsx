import './parts.css';

/** One figure with its name and unit. */
export function Figure({ label, value, unit, hint }: { label: string; value: string; unit?: string; hint?: string }) {
  return (
    <div class="figure" title={hint}>
      <div class="name">{label}</div>
      <div class="amount">
        {value}
        {unit && <span class="unit">{unit}</span>}
      </div>
    </div>
  );
}
