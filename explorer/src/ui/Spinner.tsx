import './controls.css';

/** Something is under way. With a label it says so to readers of screens, and beside itself. */
export function Spinner({ label }: { label?: string }) {
  return (
    <span class="spinner" role={label ? 'status' : undefined}>
      <span class="wheel" aria-hidden="true" />
      {label}
    </span>
  );
}
