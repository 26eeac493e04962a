//! A curve as a picture: both axes logarithmic, the engine's line and the store's.

use std::path::Path;

use plotters::prelude::*;

use crate::curves::Curve;

const SIZE: (u32, u32) = (720, 420);

pub(crate) fn draw(curve: &Curve, path: &Path) -> Result<(), Box<dyn std::error::Error>> {
    // A logarithmic axis has no zero.
    let at = |at: usize| at.max(1) as f64;
    let engine: Vec<(f64, f64)> =
        curve.points.iter().map(|point| (at(point.at), point.records_per_s)).collect();
    let store: Vec<(f64, f64)> = curve.points.iter().map(|point| (at(point.at), point.floor)).collect();
    let (left, right) = range(engine.iter().map(|point| point.0));
    let (low, high) = range(engine.iter().chain(&store).map(|point| point.1));

    let area = SVGBackend::new(path, SIZE).into_drawing_area();
    area.fill(&WHITE)?;
    let mut chart = ChartBuilder::on(&area)
        .caption(format!("records a second, by {}", curve.by), ("sans-serif", 18))
        .margin(12)
        .x_label_area_size(36)
        .y_label_area_size(72)
        .build_cartesian_2d((left..right).log_scale(), (low / 2.0..high * 2.0).log_scale())?;
    chart.configure_mesh().x_desc(curve.by).y_desc("records a second").draw()?;
    for (line, color, name) in [(engine, BLUE, "dex"), (store, RED, "the store alone, same records")] {
        chart
            .draw_series(LineSeries::new(line.iter().copied(), color.stroke_width(2)))?
            .label(name)
            .legend(move |(x, y)| PathElement::new([(x, y), (x + 18, y)], color));
        chart.draw_series(line.iter().map(|point| Circle::new(*point, 3, color.filled())))?;
    }
    chart.configure_series_labels().position(SeriesLabelPosition::LowerRight).border_style(BLACK).draw()?;
    area.present()?;
    Ok(())
}

fn range(values: impl Iterator<Item = f64>) -> (f64, f64) {
    values.fold((f64::MAX, f64::MIN), |(low, high), value| (low.min(value), high.max(value)))
}
